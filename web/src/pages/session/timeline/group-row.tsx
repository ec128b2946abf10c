/**
 * Identical calls as one row: their number, what they have in common, and their results. Each call also has its own
 * row.
 */
import { memo, useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { EventView, SessionStore } from '@/live/view';
import { duration } from '@/text/format';
import { cn } from '@/ui/cn';
import { StatusIcon } from '@/ui/status';
import { ClockTime } from '@/ui/time';
import { useTimeline } from './context';
import { hasFailed } from './folding';
import type { EventRow, GroupRow } from './group';
import { lookOf } from './look';
import { durationOf, previewOf, toolCallFacts } from './preview';
import { Chevron, ToolName } from './row';

interface GroupRowProps {
  row: GroupRow;
  index: number;
  position: number;
  size: number;
  tabbable: boolean;
  /** The token of the latest request to focus this row. */
  focusToken: number | undefined;
  measure(node: HTMLElement | null): void;
  entered(index: number): void;
}

export const GroupRowView = memo(function GroupRowView(props: GroupRowProps) {
  const { row, index, focusToken } = props;
  const { store, folding, answer } = useTimeline();
  const open = useSyncExternalStore(folding.subscribeGroups, () => folding.isGroupOpen(row));
  const tally = useTally(store, row.calls);
  const toggle = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (focusToken !== undefined && answer('row', focusToken)) toggle.current?.focus({ preventScroll: true });
  }, [focusToken, answer]);
  const first = store.event(row.calls[0]?.eventId ?? '');
  const last = store.event(row.calls.at(-1)?.eventId ?? '');
  if (!first || !last) return <li ref={props.measure} data-index={index} className="absolute inset-x-0 h-9" />;
  const Icon = lookOf(first.event_type).icon;
  const facts = toolCallFacts(first);
  const until = toolCallFacts(last).call;
  const count = row.calls.length.toLocaleString();
  const chip = 'shrink-0 rounded px-1.5 text-xs font-medium';
  return (
    <li
      ref={props.measure}
      aria-setsize={props.size}
      aria-posinset={props.position}
      data-index={index}
      data-testid="timeline-group"
      data-open={open}
      className="absolute inset-x-0 contain-[layout_style]"
    >
      <button
        ref={toggle}
        type="button"
        data-stop
        tabIndex={props.tabbable ? 0 : -1}
        aria-expanded={open}
        onClick={() => folding.chooseGroup(row.key, !open)}
        onFocus={() => props.entered(index)}
        className="flex h-9 w-full items-center gap-2 border-b border-line pr-3 pl-1.5 text-left text-[13px] hover:bg-sunken focus-visible:-outline-offset-2"
      >
        <Chevron open={open} />
        <Icon aria-hidden className={cn('size-4 shrink-0 text-ink-faint', tally.failed > 0 && 'text-bad')} />
        {facts.call && until && (
          <span className="shrink-0 rounded border border-line px-1 font-mono text-xs text-ink-soft @max-md:sr-only">
            <span className="sr-only">Tool calls </span>
            {facts.call}–{lastPart(until)}
          </span>
        )}
        <ToolName facts={{ ...facts, call: '' }} />
        <span className={cn(chip, 'bg-idle-soft text-ink tabular-nums')} data-testid="group-count">
          ×{count}
          <span className="sr-only"> identical calls</span>
        </span>
        <span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-soft">{previewOf(first)}</span>
        {tally.failed > 0 && (
          <span className={cn(chip, 'bg-bad-soft text-bad')}>
            {tally.failed === 1 ? '1 error' : `${tally.failed.toLocaleString()} errors`}
          </span>
        )}
        {tally.running > 0 && <StatusIcon status="streaming" />}
        <span
          className="min-w-14 shrink-0 text-right text-xs whitespace-nowrap text-ink-faint tabular-nums @max-md:hidden"
          title="All calls together"
        >
          {tally.took > 0 && duration(tally.took)}
        </span>
        <ClockTime
          at={first.created_at}
          className="w-26 shrink-0 text-right text-xs whitespace-nowrap text-ink-faint tabular-nums @max-xl:hidden"
        />
      </button>
    </li>
  );
});

/** Shortens "1.1.3" to "1.1.42" to 1.1.3–42. */
function lastPart(call: string): string {
  return call.slice(call.lastIndexOf('.') + 1);
}

interface Tally {
  running: number;
  failed: number;
  took: number;
}

function count(events: readonly (EventView | undefined)[]): Tally {
  const tally = { running: 0, failed: 0, took: 0 };
  for (const event of events) {
    if (!event) continue;
    if (event.status === 'streaming') tally.running++;
    if (hasFailed(event)) tally.failed++;
    tally.took += durationOf(event) ?? 0;
  }
  return tally;
}

/** Counts the results of a group's calls. Finished calls are counted once; only the others are subscribed to. */
function useTally(store: SessionStore, calls: readonly EventRow[]): Tally {
  const { settled, pending } = useMemo(() => {
    const isPending = ({ eventId }: EventRow) => store.event(eventId)?.status === 'streaming';
    return {
      settled: count(calls.filter((call) => !isPending(call)).map(({ eventId }) => store.event(eventId))),
      pending: calls.filter(isPending).map(({ eventId }) => eventId),
    };
  }, [store, calls]);
  const subscribe = useCallback(
    (listener: () => void) => {
      const stops = pending.map((id) => store.subscribeEvent(id, listener));
      return () => {
        for (const stop of stops) stop();
      };
    },
    [store, pending],
  );
  const drawn = useRef<Tally>(settled);
  const read = useCallback(() => {
    const now = count(pending.map((id) => store.event(id)));
    const { running, failed, took } = drawn.current;
    const next = {
      running: settled.running + now.running,
      failed: settled.failed + now.failed,
      took: settled.took + now.took,
    };
    // Keeps the same object until a number changes: React compares snapshots by identity.
    if (next.running !== running || next.failed !== failed || next.took !== took) drawn.current = next;
    return drawn.current;
  }, [store, pending, settled]);
  return useSyncExternalStore(subscribe, read);
}
