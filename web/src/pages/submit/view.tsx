import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { LoaderCircle, Lock, Send } from 'lucide-react';
import { type ReactNode, useMemo, useState } from 'react';
import type { Problem } from '@/api/problem';
import * as queries from '@/api/queries';
import { usePageCommands } from '@/app/commands';
import { Button } from '@/ui/button';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { ProblemPanel } from '@/ui/feedback';
import { Kbd } from '@/ui/kbd';
import { usePayloadCheck } from './check';
import { useDraft } from './draft';
import { DropCover, useFileDrop } from './drop';
import { readFiles } from './file';
import { bodyOf, isEmpty, partsChanged, requestOf, type SubmitForm } from './form';
import { byteLength } from './payload';
import { PayloadField } from './payload-field';
import { RunbookField } from './runbook-field';
import { useSend } from './send';
import { ToolsField } from './tools-field';
import { TypeField, useDefaultType } from './type-field';

/** The result of loading a file: the previous payload, or the reason it was rejected. */
type FileNotice = { name: string; before: Pick<SubmitForm, 'payload' | 'format'> } | { refusal: string };

export function SubmitView({ filled }: { filled: SubmitForm | null }) {
  const { form, update, discard } = useDraft(filled);
  const [notice, setNotice] = useState<FileNotice | null>(null);
  const { data: who } = useQuery(queries.me());
  const forbidden = who !== undefined && !who.scopes.includes('write');
  const defaultType = useDefaultType();
  const alertType = form.alertType || defaultType;
  const sending = useSend(form, alertType, discard);
  const checked = usePayloadCheck(form.payload, form.format);
  const data = checked?.ok ? checked.data : undefined;
  const size = useMemo(
    () => (data === undefined ? undefined : byteLength(bodyOf(requestOf(form, alertType), data))),
    [data, form, alertType],
  );

  const change = (changes: Partial<SubmitForm>) => {
    update(changes);
    sending.changed(...partsChanged(changes));
  };
  const takeFiles = async (files: File[]) => {
    if (forbidden) return;
    const content = await readFiles(files);
    if (!content.ok) {
      setNotice({ refusal: content.message });
      return;
    }
    setNotice({ name: content.name, before: { payload: form.payload, format: form.format } });
    change({ payload: content.text, format: content.format });
  };
  const clear = isEmpty(form)
    ? undefined
    : () => {
        discard();
        setNotice(null);
      };
  usePageCommands([
    ...(forbidden ? [] : [{ id: 'send', label: 'Submit this alert', icon: <Send aria-hidden />, run: sending.submit }]),
    ...(clear ? [{ id: 'clear', label: 'Clear form', run: clear }] : []),
    ...(['text', 'json', 'yaml'] as const)
      .filter((format) => format !== form.format)
      .map((format) => ({
        id: format,
        label: `Payload as ${format === 'text' ? 'text' : format.toUpperCase()}`,
        run: () => change({ format }),
      })),
  ]);
  const over = useFileDrop((files) => void takeFiles(files));

  return (
    <form
      noValidate
      className="flex flex-1 flex-col gap-4"
      aria-label="Alert"
      data-testid="submit-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!forbidden) sending.submit();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || forbidden) return;
        event.preventDefault();
        sending.submit();
      }}
    >
      {forbidden && <Forbidden name={who.name} />}
      {/* A fieldset cannot distribute its height to children, so it generates no box. */}
      <fieldset disabled={forbidden} className="contents">
        <legend className="sr-only">The alert</legend>
        <div className="flex min-w-0 flex-1 flex-col gap-4">
          <div className="grid flex-1 gap-4 lg:grid-cols-[minmax(0,1fr)_minmax(22rem,32rem)] 2xl:grid-cols-[minmax(0,1fr)_minmax(0,60rem)]">
            <Card className="flex min-w-0 flex-col lg:sticky lg:top-4 lg:h-[calc(100dvh-11.5rem)] lg:min-h-[28rem] lg:self-start">
              <CardBody className="flex min-h-0 flex-1 flex-col gap-4">
                <TypeField
                  value={alertType}
                  defaultType={defaultType}
                  onChange={(name) => change({ alertType: name })}
                  problem={sending.problems.alert_type}
                />
                <PayloadField
                  text={form.payload}
                  format={form.format}
                  checked={checked}
                  size={size}
                  problem={checked?.ok === false ? undefined : sending.problems.data}
                  onText={(payload) => change({ payload })}
                  onFormat={(format) => change({ format })}
                  onFiles={(files) => void takeFiles(files)}
                />
                <Notice
                  of={notice}
                  onUndo={(before) => {
                    change(before);
                    setNotice(null);
                  }}
                />
              </CardBody>
            </Card>
            <div className="grid min-w-0 content-start items-start gap-4 2xl:grid-cols-2">
              <Part title="Runbook">
                <RunbookField form={form} update={change} problems={sending.problems} />
              </Part>
              <Part title="Tools">
                <ToolsField
                  form={form}
                  alertType={alertType}
                  update={change}
                  problem={sending.problems.mcp_selection}
                />
              </Part>
            </div>
          </div>
          <Actions
            problem={sending.problem}
            disabled={forbidden || sending.pending}
            pending={sending.pending}
            onClear={clear}
          />
        </div>
      </fieldset>
      {over && !forbidden && <DropCover />}
    </form>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card>
      <CardHeader>
        <CardTitle>{title}</CardTitle>
      </CardHeader>
      <CardBody>{children}</CardBody>
    </Card>
  );
}

function Actions({
  problem,
  disabled,
  pending,
  onClear,
}: {
  /** Why the alert was rejected. It stays visible next to the button, wherever the reader is in the form. */
  problem: Problem | null;
  disabled: boolean;
  pending: boolean;
  /** Undefined if there is nothing to clear. */
  onClear: (() => void) | undefined;
}) {
  return (
    <div className="sticky bottom-0 -mx-4 -mb-4 flex flex-wrap items-center gap-3 border-t border-line bg-canvas px-4 py-3">
      {problem && <ProblemPanel className="max-h-[40dvh] w-full overflow-auto" error={problem} focused />}
      <Button type="submit" variant="primary" disabled={disabled} data-testid="submit-button">
        {pending ? <LoaderCircle className="animate-spin" aria-hidden /> : <Send aria-hidden />}
        {pending ? 'Submitting…' : 'Submit alert'}
      </Button>
      <Kbd keys="mod+enter" className="max-sm:hidden" />
      {onClear && (
        <Button variant="ghost" className="ml-auto" onClick={onClear}>
          Clear form
        </Button>
      )}
    </div>
  );
}

function Forbidden({ name }: { name: string }) {
  return (
    <p
      className="flex items-start gap-2 rounded-md border border-line bg-warn-soft px-3 py-2 text-ink"
      data-testid="submit-forbidden"
    >
      <Lock className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
      <span>
        The access of <strong className="font-semibold break-words">{name}</strong> is read-only. To submit alerts, log
        in with the role responder, or with a key that has the <code className="font-mono text-xs">write</code> scope.
        You can still watch{' '}
        <Link to="/" className="text-accent underline underline-offset-4">
          sessions
        </Link>
        .
      </span>
    </p>
  );
}

function Notice({
  of: notice,
  onUndo,
}: {
  of: FileNotice | null;
  onUndo: (before: Pick<SubmitForm, 'payload' | 'format'>) => void;
}) {
  return (
    <div aria-live="polite" data-testid="submit-notice">
      {notice && 'refusal' in notice && (
        <p className="rounded-md bg-bad-soft px-3 py-2 break-words text-bad">{notice.refusal}</p>
      )}
      {notice && 'name' in notice && (
        <p className="flex flex-wrap items-center gap-2 rounded-md bg-sunken px-3 py-2 text-ink-soft">
          <span className="min-w-0 break-words">Loaded {notice.name} as the payload.</span>
          {notice.before.payload.trim() !== '' && (
            <Button size="sm" onClick={() => onUndo(notice.before)}>
              Undo
            </Button>
          )}
        </p>
      )}
    </div>
  );
}
