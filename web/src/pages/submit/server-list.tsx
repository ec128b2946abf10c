/** The MCP servers that the chain of an alert type allows, with checkboxes for their tools. */
import { useQuery } from '@tanstack/react-query';
import { ChevronRight, TriangleAlert } from 'lucide-react';
import { useEffect, useRef } from 'react';
import * as queries from '@/api/queries';
import type { MCPServer } from '@/api/types';
import { cn } from '@/ui/cn';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import {
  allowedServers,
  hasTool,
  missingTools,
  type ServerSelection,
  serverState,
  toggleServer,
  toggleTool,
} from './selection';

interface Props {
  servers: ServerSelection[];
  onChange: (servers: ServerSelection[]) => void;
}

export function ServerList({
  alertType,
  chainId,
  servers,
  onChange,
}: Props & {
  alertType: string;
  /** The chain, if it differs from that of the alert type. */
  chainId?: string;
}) {
  const known = useQuery(queries.mcpServers());
  const allowed = useQuery(queries.defaultTools(alertType, chainId));
  if (alertType === '' && chainId === undefined)
    return <p className="text-ink-soft">Choose an alert type to see its tools.</p>;
  if (known.isPending || allowed.isPending) return <Loading what="MCP servers" rows={3} className="p-0" />;
  if (known.data === undefined) return <ProblemPanel error={known.error} retry={() => void known.refetch()} />;
  if (allowed.data === undefined) return <ProblemPanel error={allowed.error} retry={() => void allowed.refetch()} />;
  const offered = allowedServers(known.data.servers, allowed.data.servers);
  const gone = servers.filter((chosen) => !offered.some((server) => server.id === chosen.name));
  if (offered.length === 0 && gone.length === 0) {
    return <EmptyState title="No MCP servers">The agents of the chain use no MCP servers.</EmptyState>;
  }
  return (
    <ul className="divide-y divide-line rounded-md border border-line">
      {offered.map((server) => (
        <ServerItem key={server.id} server={server} servers={servers} onChange={onChange} />
      ))}
      {gone.map((server) => (
        <li key={server.name} className="p-3">
          <TickBox
            label={server.name}
            state="all"
            onToggle={() => onChange(servers.filter((chosen) => chosen.name !== server.name))}
            note="not allowed by the chain"
            warn
          />
        </li>
      ))}
    </ul>
  );
}

function ServerItem({ server, servers, onChange }: Props & { server: MCPServer }) {
  const offered = server.tools.map((tool) => tool.name);
  const missing = missingTools(servers, server.id, offered);
  const chosen = [...offered, ...missing].filter((tool) => hasTool(servers, server.id, tool)).length;
  const state = serverState(servers, server.id);
  const troubled = server.checked && !server.healthy;
  const note = troubled
    ? 'not responding'
    : server.checked
      ? `${chosen} of ${offered.length} tools`
      : 'not checked yet';
  return (
    <li className="p-3" data-testid="mcp-server">
      <TickBox
        label={server.id}
        state={state}
        onToggle={() => onChange(toggleServer(servers, server.id))}
        note={note}
        warn={troubled}
        strong
      />
      {troubled && server.error && (
        <p className="ml-6 line-clamp-3 text-xs break-words text-ink-soft">{server.error}</p>
      )}
      {offered.length + missing.length > 0 && (
        <details className="group mt-1 ml-6" open={state === 'some' || undefined}>
          <summary className="inline-flex min-h-6 cursor-pointer items-center gap-0.5 text-xs text-accent underline-offset-4 hover:underline">
            <ChevronRight className="size-3.5 transition-transform group-open:rotate-90" aria-hidden />
            Tools
          </summary>
          <ul className="mt-1 space-y-1.5">
            {server.tools.map((tool) => (
              <li key={tool.name}>
                <TickBox
                  label={tool.name}
                  state={hasTool(servers, server.id, tool.name) ? 'all' : 'none'}
                  onToggle={() => onChange(toggleTool(servers, server.id, tool.name, offered))}
                  note={tool.read_only ? 'read-only' : 'can write'}
                  warn={!tool.read_only}
                />
                {tool.description && (
                  <p className="ml-6 line-clamp-2 text-xs break-words text-ink-soft">{tool.description}</p>
                )}
              </li>
            ))}
            {missing.map((tool) => (
              <li key={tool}>
                <TickBox
                  label={tool}
                  state="all"
                  onToggle={() => onChange(toggleTool(servers, server.id, tool, offered))}
                  note="not available"
                  warn
                />
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  );
}

function TickBox({
  label,
  state,
  note,
  onToggle,
  warn = false,
  strong = false,
}: {
  label: string;
  state: 'all' | 'some' | 'none';
  note: string;
  onToggle: () => void;
  warn?: boolean;
  strong?: boolean;
}) {
  const box = useRef<HTMLInputElement>(null);
  useEffect(() => {
    // HTML has no attribute for the indeterminate state of a checkbox.
    if (box.current) box.current.indeterminate = state === 'some';
  }, [state]);
  return (
    <label className="flex min-h-6 items-start gap-2">
      <input
        ref={box}
        type="checkbox"
        className="mt-0.5 size-4 shrink-0 accent-accent"
        checked={state === 'all'}
        onChange={onToggle}
      />
      <span className={cn('min-w-0 flex-1 break-words', strong ? 'font-medium' : 'font-mono text-xs leading-5')}>
        {label}
      </span>
      <span
        className={cn(
          'inline-flex shrink-0 items-center gap-1 text-xs leading-5',
          warn ? 'text-warn' : 'text-ink-soft',
        )}
      >
        {warn && <TriangleAlert className="size-3.5" aria-hidden />}
        {note}
      </span>
    </label>
  );
}
