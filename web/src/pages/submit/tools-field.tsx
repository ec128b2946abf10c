/** The tools that the agents get: all that the chain allows, or a selection. */
import { useQuery } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import { counted } from '@/text/format';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { Segmented } from '@/ui/segmented';
import { FieldProblem, fieldIds } from './field';
import type { SubmitForm, ToolSource } from './form';
import { NativeTools } from './native-tools';
import { ServerList } from './server-list';

const sources: readonly { value: ToolSource; label: string }[] = [
  { value: 'chain', label: 'All chain tools' },
  { value: 'own', label: 'Selected' },
];

export function ToolsField({
  form,
  alertType,
  update,
  problem,
}: {
  form: SubmitForm;
  alertType: string;
  update: (change: Partial<SubmitForm>) => void;
  problem: string | undefined;
}) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset's legend would stand in its border; the heading names it.
    <div
      role="group"
      id={fieldIds('mcp_selection').control}
      tabIndex={-1}
      aria-label="Agent tools"
      aria-describedby={problem === undefined ? undefined : fieldIds('mcp_selection').problem}
      className="space-y-3"
    >
      <Segmented
        label="Tool source"
        value={form.tools}
        options={sources}
        onChange={(tools) => update({ tools })}
        data-testid="submit-tools"
      />
      <FieldProblem name="mcp_selection" message={problem} />
      {form.tools === 'chain' ? (
        <ChainTools alertType={alertType} />
      ) : (
        <>
          <p className="text-ink-soft">Limits this alert to some of the tools that its chain allows.</p>
          <ServerList alertType={alertType} servers={form.servers} onChange={(servers) => update({ servers })} />
          <NativeTools alertType={alertType} choices={form.native} onChange={(native) => update({ native })} />
        </>
      )}
    </div>
  );
}

function ChainTools({ alertType }: { alertType: string }) {
  const tools = useQuery(queries.defaultTools(alertType));
  if (alertType === '') return <p className="text-ink-soft">Choose an alert type to see its tools.</p>;
  if (tools.isPending) return <Loading what="the chain's tools" rows={2} className="p-0" />;
  if (tools.data === undefined) return <ProblemPanel error={tools.error} retry={() => void tools.refetch()} />;
  if (tools.data.servers.length === 0)
    return <p className="text-ink-soft">The agents for this alert type use no MCP servers.</p>;
  return (
    <ul className="space-y-2" data-testid="submit-default-tools">
      {tools.data.servers.map((server) => (
        <li key={server.name}>
          <p className="font-medium break-words">
            {server.name}{' '}
            <span className="font-normal text-ink-soft">
              {server.known ? counted(server.tools.length, 'tool') : 'tools not loaded yet'}
            </span>
          </p>
          {server.tools.length > 0 && (
            <p className="font-mono text-xs break-words text-ink-soft">{server.tools.join(', ')}</p>
          )}
        </li>
      ))}
    </ul>
  );
}
