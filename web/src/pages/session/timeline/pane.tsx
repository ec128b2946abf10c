/** One of several agents: a list that follows its own end. */
import { useCallback, useDeferredValue, useEffect, useLayoutEffect, useMemo } from 'react';
import { isOver } from '@/api/status';
import type { ExecutionDetail } from '@/api/types';
import { cn } from '@/ui/cn';
import { type FocusRequest, useTimeline } from './context';
import { Follow } from './follow';
import type { ListRow } from './group';
import { GroupRowView } from './group-row';
import { type Band, foldedHeight, inBand, openHeight } from './height';
import { JumpButton } from './jump';
import { useList } from './list';
import { useRoving } from './roving';
import { EventRowView } from './row';
import { PaneHead } from './stage';

interface PaneProps {
  execution: ExecutionDetail;
  rows: readonly ListRow[];
  width: number;
  /** Whether the lane is in view; otherwise its rows are not rendered. */
  visible: boolean;
  band: Band;
  /** A request for a row of this pane. */
  focusRequest: FocusRequest | undefined;
  markedKey: string | undefined;
  className?: string;
}

export function Pane({ execution, rows, width, visible, band, focusRequest, markedKey, className }: PaneProps) {
  const { store, folding, panes, answer } = useTimeline();
  // biome-ignore lint/correctness/useExhaustiveDependencies: the first rows and status decide how a pane begins
  const memory = useMemo(() => {
    const known = panes.get(execution.id);
    if (known) return known;
    const made = { follow: new Follow(!isOver(execution.status), rows.length), offset: 0, sizes: [] };
    panes.set(execution.id, made);
    return made;
  }, [panes, execution.id]);
  const { follow } = memory;

  const count = rows.length;
  const keyOf = useCallback((index: number) => rows[index]?.key ?? String(index), [rows]);
  const estimate = useCallback(
    (index: number) => {
      const row = rows[index];
      const event = row?.kind === 'event' ? store.event(row.eventId) : undefined;
      if (!event || row?.kind !== 'event') return foldedHeight;
      const summaries = row.summaries.map((id) => store.event(id));
      return folding.isOpen(row.eventId, event, ...summaries) ? openHeight(event, width) : foldedHeight;
    },
    [rows, store, folding, width],
  );
  const isStop = useCallback(() => true, []);
  const roving = useRoving({
    count,
    keyOf,
    isStop,
    show: (index, up) => {
      follow.step(up ? { type: 'left', total: count } : { type: 'taken' });
      list.virtualizer.scrollToIndex(index, { align: 'auto' });
    },
  });
  const keep = useMemo(() => (roving.active === undefined ? [] : [roving.active]), [roving.active]);
  const list = useList({
    count,
    keyOf,
    estimate,
    follow,
    total: count,
    folding,
    startAt: () => memory.offset,
    sizes: memory.sizes,
    keep,
  });
  const { virtualizer, scroller } = list;

  useLayoutEffect(
    () => () => {
      memory.offset = virtualizer.scrollOffset ?? 0;
      memory.sizes = virtualizer.takeSnapshot();
    },
    [memory, virtualizer],
  );

  // The pane has scrolled to the row reached by keyboard, but the pane itself may extend past the window.
  const walked = roving.focusRequest;
  useEffect(() => {
    if (walked) document.activeElement?.scrollIntoView({ block: 'nearest' });
  }, [walked]);

  const asked = focusRequest ? rows.findIndex((row) => row.key === focusRequest.key) : -1;
  useEffect(() => {
    if (!focusRequest || asked < 0 || !answer('pane', focusRequest.token)) return;
    follow.step({ type: 'left', total: count });
    virtualizer.scrollToIndex(asked, { align: 'start' });
  }, [focusRequest, asked, answer, follow, count, virtualizer]);

  // Until the browser reports the offset, that of a following list is past its end.
  const end = Math.max(0, virtualizer.getTotalSize() - (virtualizer.scrollRect?.height ?? 0));
  const offset = Math.min(virtualizer.scrollOffset ?? 0, end);
  // Many panes mount at the same time: first the panes, then their rows, deferred.
  const drawn = useDeferredValue(true, false);
  const items =
    visible && drawn
      ? virtualizer
          .getVirtualItems()
          .filter((item) => item.index === roving.active || inBand(band, item.start - offset, item.end - offset))
      : [];
  const tabbable = roving.active ?? items[0]?.index;
  // Two agents of a stage may have the same name.
  const name = `${execution.agent_index}. ${execution.agent_name}`;
  return (
    <section
      aria-label={name}
      data-testid="pane"
      data-execution-id={execution.id}
      data-following={list.following}
      className={cn('@container relative flex min-w-0 flex-col rounded-lg border border-line bg-surface', className)}
    >
      <PaneHead execution={execution} />
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div
        ref={scroller}
        role="group"
        aria-label={`Events of ${execution.agent_name}`}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="max-h-[60vh] overflow-x-hidden overflow-y-auto [overflow-anchor:none] focus-visible:-outline-offset-2"
        {...list.props}
        onKeyDown={roving.onKeyDown}
      >
        {count === 0 && <p className="px-3 py-2 text-[13px] text-ink-faint">No events yet.</p>}
        <ul ref={virtualizer.containerRef} className="relative w-full">
          {items.map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            const at = { index: item.index, position: item.index + 1, size: count };
            if (row.kind === 'group') {
              return (
                <GroupRowView
                  key={row.key}
                  row={row}
                  {...at}
                  tabbable={item.index === tabbable}
                  focusToken={latestToken(row.key, roving.focusRequest)}
                  measure={virtualizer.measureElement}
                  entered={roving.entered}
                />
              );
            }
            return (
              <EventRowView
                key={row.key}
                row={row}
                {...at}
                follow={follow}
                tabbable={item.index === tabbable}
                marked={row.key === markedKey}
                focusToken={latestToken(row.key, focusRequest, roving.focusRequest)}
                measure={virtualizer.measureElement}
                resized={list.resized}
                entered={roving.entered}
              />
            );
          })}
        </ul>
        <JumpButton
          shown={!list.following && (list.missed > 0 || !isOver(execution.status))}
          missed={list.missed}
          jump={list.jump}
          what={execution.agent_name}
          small
        />
      </div>
    </section>
  );
}

/** Returns the token of the latest request for a row. */
export function latestToken(key: string, ...requests: readonly (FocusRequest | undefined)[]): number | undefined {
  const tokens = requests.flatMap((each) => (each?.key === key ? [each.token] : []));
  return tokens.length === 0 ? undefined : Math.max(...tokens);
}
