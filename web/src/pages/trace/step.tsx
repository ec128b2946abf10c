/** A step of one execution next to that of the other. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import * as queries from '@/api/queries';
import type { MCPInteractionItem } from '@/api/types';
import { useEvent } from '@/live/session-hooks';
import type { SessionStore } from '@/live/view';
import { beginning, duration, tokens } from '@/text/format';
import { payloadOf } from '@/text/payload';
import { cn } from '@/ui/cn';
import { Cost } from '@/ui/cost';
import { StatusIcon } from '@/ui/status';
import { type Call, names, statusOf } from './calls';
import { type Pair, sameJson, stepKey } from './compare';

export function Step({ pair, store, sessionId }: { pair: Pair; store: SessionStore; sessionId: string }) {
  const { left, right } = pair;
  const same = left !== undefined && right !== undefined && stepKey(left) === stepKey(right);
  return (
    <li className={cn('px-4 py-2', !same && 'bg-warn-soft/50')}>
      <div className="grid gap-x-4 gap-y-1 md:grid-cols-2">
        <Side name="Left" call={left} sessionId={sessionId} />
        <Side name="Right" call={right} sessionId={sessionId} />
      </div>
      {same && left.kind === 'mcp' && right.kind === 'mcp' ? (
        <Arguments left={left.item} right={right.item} store={store} sessionId={sessionId} />
      ) : (
        !same && (
          <p className="mt-1 text-xs text-warn">
            {left === undefined ? 'Only on the right' : right === undefined ? 'Only on the left' : 'Different steps'}
          </p>
        )
      )}
    </li>
  );
}

function Side({ name, call, sessionId }: { name: string; call: Call | undefined; sessionId: string }) {
  if (call === undefined) return <p className="text-ink-faint max-md:hidden">–</p>;
  const { label, hint } = names(call);
  const status = statusOf(call);
  return (
    <div className="flex min-w-0 items-center gap-1.5">
      <span className="w-8 shrink-0 text-xs text-ink-faint md:sr-only">{name}</span>
      {status !== 'completed' && <StatusIcon status={status} />}
      <Link
        to="/sessions/$sessionId/trace"
        params={{ sessionId }}
        search={{ call: call.item.id }}
        className={cn(
          'truncate leading-6 underline-offset-2 hover:underline',
          call.kind === 'mcp' && 'font-mono text-xs',
        )}
      >
        {label}
      </Link>
      <span className="min-w-0 flex-1 truncate text-xs text-ink-faint">{hint}</span>
      <span className="shrink-0 text-xs text-ink-soft tabular-nums">
        {duration(call.item.duration_ms)}
        {call.kind === 'llm' && (
          <>
            {` · ${tokens(call.item.usage.total_tokens)} · `}
            <Cost usage={call.item.usage} />
          </>
        )}
      </span>
    </div>
  );
}

function Arguments({
  left,
  right,
  store,
  sessionId,
}: {
  left: MCPInteractionItem;
  right: MCPInteractionItem;
  store: SessionStore;
  sessionId: string;
}) {
  const one = useArguments(left, store, sessionId);
  const other = useArguments(right, store, sessionId);
  if (one === undefined || other === undefined) return null;
  if (sameJson(one, other)) return <p className="mt-1 text-xs text-ink-faint">Same arguments</p>;
  return (
    <div className="mt-1 grid gap-x-4 gap-y-1 md:grid-cols-2">
      {[one, other].map((given, n) => (
        <pre
          // biome-ignore lint/suspicious/noArrayIndexKey: there are two, left and right.
          key={n}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          className="max-h-48 overflow-auto rounded bg-sunken p-2 font-mono text-xs break-words whitespace-pre-wrap"
        >
          {beginning(payloadOf(given).text, 10_000)}
        </pre>
      ))}
    </div>
  );
}

/** Returns the arguments of a tool call. The timeline usually has them; long ones are requested. */
function useArguments(item: MCPInteractionItem, store: SessionStore, sessionId: string): unknown {
  const event = useEvent(store, item.timeline_event_id);
  const known = event?.metadata?.arguments;
  const query = useQuery({ ...queries.mcpInteraction(sessionId, item.id), enabled: known === undefined });
  return known ?? query.data?.tool_arguments;
}
