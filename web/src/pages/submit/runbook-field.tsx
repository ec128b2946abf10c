import { Input, Textarea } from '@/ui/input';
import { Segmented } from '@/ui/segmented';
import { FieldProblem, fieldProps, Label } from './field';
import type { RunbookKind, SubmitForm } from './form';

const kinds: readonly { value: RunbookKind; label: string }[] = [
  { value: 'none', label: 'Default' },
  { value: 'url', label: 'URL' },
  { value: 'text', label: 'Text' },
];

export function RunbookField({
  form,
  update,
  problems,
}: {
  form: SubmitForm;
  update: (change: Partial<SubmitForm>) => void;
  problems: { runbook?: string; runbook_url?: string };
}) {
  return (
    <div className="space-y-2">
      <Segmented
        label="Runbook source"
        value={form.runbook}
        options={kinds}
        onChange={(runbook) => update({ runbook })}
      />
      {form.runbook === 'none' && <p className="text-ink-soft">Agents use the runbook of the chain, if it has one.</p>}
      {form.runbook === 'url' && (
        <div className="space-y-1.5">
          <Label name="runbook_url">Runbook URL</Label>
          <Input
            {...fieldProps('runbook_url', problems.runbook_url)}
            type="url"
            inputMode="url"
            value={form.runbookURL}
            onChange={(event) => update({ runbookURL: event.target.value })}
            placeholder="https://github.com/…/runbook.md"
            data-testid="submit-runbook-url"
          />
        </div>
      )}
      {form.runbook === 'text' && (
        <div className="space-y-1.5">
          <Label name="runbook">Runbook (Markdown)</Label>
          <Textarea
            {...fieldProps('runbook', problems.runbook)}
            value={form.runbookText}
            onChange={(event) => update({ runbookText: event.target.value })}
            rows={8}
            className="font-mono text-[13px]"
            data-testid="submit-runbook"
          />
        </div>
      )}
      <FieldProblem name="runbook_url" message={problems.runbook_url} />
      <FieldProblem name="runbook" message={problems.runbook} />
    </div>
  );
}
