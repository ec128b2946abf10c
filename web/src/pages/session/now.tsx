/** What a running session is doing: one line per agent, always visible. */
import { Hourglass, LoaderCircle } from 'lucide-react';
import { useMemo, useSyncExternalStore } from 'react';
import { isOver } from '@/api/status';
import type { SessionStore, SessionView } from '@/live/view';
import { cn } from '@/ui/cn';
import { statusLabel } from '@/ui/status';
import { NotifySwitch } from './notify';
import { doingOf, isWaiting, type PresentAgent, presentOf } from './present';
import { throttled } from './timeline/live';

/** More agents than this scroll: the timeline needs the space. */
const mostLines = 5;

export function Now({ store, view }: { store: SessionStore; view: SessionView }) {
  const present = presentOf(view);
  if (!present) return null;
  const many = present.agents.length > mostLines;
  return (
    <div className="flex items-start gap-2 border-b border-line bg-running-soft px-3 py-1 sm:px-4" data-testid="now">
      {isWaiting(view) ? (
        <Hourglass className="mt-1.5 size-4 shrink-0 text-warn" aria-hidden />
      ) : (
        <LoaderCircle className="mt-1.5 size-4 shrink-0 animate-spin text-running" aria-hidden />
      )}
      {present.agents.length === 0 ? (
        <p className="min-w-0 flex-1 py-1 font-medium break-words">{present.words}</p>
      ) : (
        <ul
          aria-label="Agents of the stage"
          className={cn('min-w-0 flex-1', many && 'max-h-35 overflow-y-auto')}
          tabIndex={many ? 0 : undefined}
        >
          {present.agents.map((agent) => (
            <AgentLine key={agent.executionId} store={store} agent={agent} />
          ))}
        </ul>
      )}
      <NotifySwitch />
    </div>
  );
}

function AgentLine({ store, agent }: { store: SessionStore; agent: PresentAgent }) {
  const { eventId } = agent;
  const subscribe = useMemo(
    () =>
      throttled(
        (listener) => (eventId === undefined ? () => {} : store.subscribeEvent(eventId, listener)),
        () => eventId !== undefined && store.event(eventId)?.status !== 'streaming',
        // Faster changes are unreadable.
        500,
      ),
    [store, eventId],
  );
  const event = useSyncExternalStore(subscribe, () => (eventId === undefined ? undefined : store.event(eventId)));
  const over = isOver(agent.status);
  const { words, detail } = over ? { words: statusLabel(agent.status), detail: '' } : doingOf(event);
  return (
    <li className="flex min-w-0 gap-2 py-1 leading-5" data-testid="now-agent">
      <span className="max-w-[40%] shrink-0 truncate font-medium" title={agent.name}>
        {agent.name}
      </span>
      <span className={cn('min-w-0 flex-1 truncate', over && 'text-ink-soft')}>
        {words}
        {detail && <span className="text-ink-soft">: {detail}</span>}
      </span>
    </li>
  );
}
