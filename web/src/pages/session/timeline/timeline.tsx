/**
 * The timeline of a session: one scrolling list of stages and events, with parallel agents side by side. It shows the
 * view and the store, regardless of how they were loaded.
 */
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { isOver } from '@/api/status';
import type { SessionStore, SessionView } from '@/live/view';
import { useTimelineCommands } from './commands';
import { CallsContext, type FocusRequest, TimelineContext, type TimelineShared, useTimeline } from './context';
import { Folding } from './folding';
import { Follow } from './follow';
import type { EventRow, ListRow } from './group';
import { GroupRowView } from './group-row';
import { bandOf, endHeight, foldedHeight, laneWidth, openHeight, parallelHeight, stageHeight } from './height';
import { JumpButton } from './jump';
import { useList } from './list';
import { latestToken } from './pane';
import { ParallelBlock } from './parallel';
import { useRoving } from './roving';
import { EventRowView } from './row';
import { type Place, type Row, RowMemory, rowsOf } from './rows';
import { EndMark, StageHeader } from './stage';

export interface TimelineProps {
  store: SessionStore;
  view: SessionView;
  /** The event in the page's address: it is scrolled to, opened and highlighted. */
  focus?: string;
  /** The content above the stages, which scrolls with them. */
  header?: ReactNode;
  /** Identifies the beginning of the header: if it changes, the header grew above the part that the reader sees. */
  lead?: string;
  /** Scrolls to the verdict; set if the verdict is above the list's end, out of view. */
  showVerdict?: () => void;
}

export function Timeline(props: TimelineProps) {
  const { store, view } = props;
  const shared = useMemo(() => makeShared(store), [store]);
  return (
    <TimelineContext value={shared}>
      <CallsContext value={view.calls}>
        <TimelineList key={store.sessionId} {...props} />
      </CallsContext>
    </TimelineContext>
  );
}

function makeShared(store: SessionStore): TimelineShared {
  const answered = new Map<string, number>();
  let last = 0;
  return {
    store,
    folding: new Folding(),
    panes: new Map(),
    newToken: () => {
      last++;
      return last;
    },
    answer: (part, token) => {
      if ((answered.get(part) ?? 0) >= token) return false;
      answered.set(part, token);
      return true;
    },
  };
}

function TimelineList({ view, focus, header, lead, showVerdict }: TimelineProps) {
  const { store, folding } = useTimeline();
  const [memory] = useState(() => new RowMemory());
  const hasHeader = header !== undefined && header !== null;
  const groups = useSyncExternalStore(folding.subscribeGroups, folding.groupVersion);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another version of the groups has other rows
  const { rows, places, events } = useMemo(
    () =>
      rowsOf(view, {
        header: hasHeader,
        lookup: (id) => store.event(id),
        isOpen: (group) => folding.isGroupOpen(group),
        memory,
      }),
    [view, hasHeader, store, folding, memory, groups],
  );
  const place = focus === undefined ? undefined : places.get(focus);
  const [follow] = useState(() => new Follow(place === undefined && !isOver(view.session.status), events));

  const width = useRef(800);
  const { keyOf, estimate } = useMeasures(rows, width);
  const isStop = useCallback((at: number) => ['event', 'group', 'parallel'].includes(rows[at]?.kind ?? ''), [rows]);
  const roving = useRoving({
    count: rows.length,
    keyOf,
    isStop,
    show: (index, up) => {
      follow.step(up ? { type: 'left', total: events } : { type: 'taken' });
      list.virtualizer.scrollToIndex(index, { align: 'auto' });
    },
  });
  const keep = useMemo(() => [hasHeader ? 0 : -1, roving.active ?? -1], [hasHeader, roving.active]);
  const list = useList({
    count: rows.length,
    keyOf,
    estimate,
    follow,
    total: events,
    folding,
    startAt: () => (place ? offsetOf(place.row, estimate) : 0),
    keep,
    lead,
  });
  const { virtualizer } = list;
  width.current = list.width || width.current;

  const target = place && rowAt(rows, place);
  const asked = useFocus({ focus, place, target, follow, events, show: virtualizer.scrollToIndex });

  useTimelineCommands({
    view,
    rows,
    folding,
    offset: () => virtualizer.scrollOffset ?? 0,
    startOf: (index) => virtualizer.getOffsetForIndex(index, 'start')?.[0] ?? 0,
    show: (index) => {
      follow.step({ type: 'left', total: events });
      virtualizer.scrollToIndex(index, { align: 'start' });
    },
    jump: list.jump,
  });

  const items = virtualizer.getVirtualItems();
  const offset = virtualizer.scrollOffset ?? 0;
  const viewport = virtualizer.scrollRect?.height ?? 0;
  const tabbable = roving.active ?? items.find((item) => isListRow(rows[item.index]))?.index;
  const first = hasHeader ? 1 : 0;
  const headerItem = hasHeader ? items.find((item) => item.index === 0) : undefined;
  return (
    <div className="relative h-full min-h-0" data-testid="timeline" data-following={list.following}>
      {/* biome-ignore lint/a11y/useSemanticElements: the page's sections are inside it */}
      <div
        ref={list.scroller}
        role="region"
        aria-label="Timeline"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        data-testid="timeline-scroller"
        className="h-full overflow-x-hidden overflow-y-auto px-4 [overflow-anchor:none] contain-strict focus-visible:-outline-offset-2 max-sm:px-2"
        {...list.props}
        onKeyDown={roving.onKeyDown}
      >
        <div ref={virtualizer.containerRef} className="@container relative w-full">
          {headerItem && (
            <div key="header" ref={virtualizer.measureElement} data-index={0} className="absolute inset-x-0">
              {header}
            </div>
          )}
          {/* Stages have their own palette commands, and row controls belong to one row of many. */}
          <ul aria-label="Events" data-palette="none">
            {items.map((item) => {
              const row = rows[item.index];
              if (!row || row.kind === 'header') return null;
              const at = { index: item.index, position: item.index + 1 - first, size: rows.length - first };
              if (row.kind === 'event') {
                return (
                  <EventRowView
                    key={row.key}
                    row={row}
                    {...at}
                    follow={follow}
                    tabbable={item.index === tabbable}
                    marked={target?.key === row.key}
                    focusToken={latestToken(row.key, asked, roving.focusRequest)}
                    measure={virtualizer.measureElement}
                    resized={list.resized}
                    entered={roving.entered}
                  />
                );
              }
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
              if (row.kind === 'parallel') {
                const band = bandOf(item.start, offset, viewport);
                const here = place?.row === item.index;
                return (
                  <ParallelBlock
                    key={row.key}
                    row={row}
                    {...at}
                    width={list.width}
                    bandTop={band.top}
                    bandBottom={band.bottom}
                    focusRequest={roving.focusRequest?.key === row.key ? roving.focusRequest : here ? asked : undefined}
                    lane={here ? place?.lane : undefined}
                    markedKey={here ? target?.key : undefined}
                    measure={virtualizer.measureElement}
                  />
                );
              }
              return (
                <li
                  key={row.key}
                  ref={virtualizer.measureElement}
                  aria-setsize={at.size}
                  aria-posinset={at.position}
                  data-index={item.index}
                  className="absolute inset-x-0"
                >
                  {row.kind === 'stage' ? (
                    <StageHeader view={row.stage} />
                  ) : (
                    <EndMark session={view.session} showVerdict={showVerdict} />
                  )}
                </li>
              );
            })}
          </ul>
        </div>
        <JumpButton
          shown={!list.following && (list.missed > 0 || !isOver(view.session.status))}
          missed={list.missed}
          jump={list.jump}
        />
      </div>
    </div>
  );
}

/** Returns the keys and estimated heights of the main list's rows. */
function useMeasures(rows: readonly Row[], width: { current: number }) {
  const { store, folding } = useTimeline();
  const keyOf = useCallback((index: number) => rows[index]?.key ?? String(index), [rows]);
  const estimate = useCallback(
    (index: number) => {
      const eventHeight = (row: ListRow, across: number) => {
        const event = row.kind === 'event' ? store.event(row.eventId) : undefined;
        if (!event || row.kind === 'group') return foldedHeight;
        const open = folding.isOpen(row.eventId, event, ...row.summaries.map((id) => store.event(id)));
        return open ? openHeight(event, across) : foldedHeight;
      };
      const row = rows[index];
      switch (row?.kind) {
        case 'event':
        case 'group':
          return eventHeight(row, width.current);
        case 'parallel': {
          const across = laneWidth(width.current, row.lanes.length);
          const most = window.innerHeight;
          return parallelHeight(
            row.lanes,
            (lane) => {
              let height = 0;
              for (const each of lane.rows) {
                height += eventHeight(each, across);
                if (height > most) break;
              }
              return height;
            },
            most,
          );
        }
        case 'stage':
          return stageHeight;
        case 'end':
          return endHeight;
        default:
          return 400;
      }
    },
    [rows, store, folding, width],
  );
  return { keyOf, estimate };
}

function offsetOf(row: number, estimate: (index: number) => number): number {
  let offset = 0;
  for (let index = 0; index < row; index++) offset += estimate(index);
  return Math.max(0, offset - foldedHeight);
}

function rowAt(rows: readonly Row[], place: Place): EventRow | undefined {
  const row = rows[place.row];
  if (row?.kind === 'event') return row;
  if (row?.kind !== 'parallel' || place.lane === undefined || place.laneRow === undefined) return undefined;
  const laneRow = row.lanes[place.lane]?.rows[place.laneRow];
  return laneRow?.kind === 'event' ? laneRow : undefined;
}

function isListRow(row: Row | undefined): boolean {
  return row?.kind === 'event' || row?.kind === 'group';
}

/** Scrolls to the event in the address each time it is requested. */
function useFocus(options: {
  focus: string | undefined;
  place: Place | undefined;
  target: EventRow | undefined;
  follow: Follow;
  events: number;
  show(index: number, options: { align: 'start' }): void;
}): FocusRequest | undefined {
  const { focus, place, target, follow, events, show } = options;
  const { folding, newToken } = useTimeline();
  const [asked, setAsked] = useState<FocusRequest>();
  const done = useRef<string>(undefined);
  const times = useClicksOn(focus);
  const asking = focus === undefined ? undefined : `${focus} ${times}`;
  const row = place?.row;
  const group = place?.group;
  const key = target?.key;
  useEffect(() => {
    if (asking === done.current) return;
    if (asking === undefined) {
      done.current = undefined;
      return;
    }
    // The row exists only once its group is open.
    if (group !== undefined) {
      folding.chooseGroup(group, true);
      return;
    }
    // An event that does not exist yet is scrolled to when it arrives.
    if (row === undefined || key === undefined) return;
    done.current = asking;
    folding.choose(key, true);
    follow.step({ type: 'left', total: events });
    show(row, { align: 'start' });
    setAsked({ key, token: newToken() });
  }, [asking, row, group, key, folding, follow, events, show, newToken]);
  return asked;
}

/** Counts clicks on links to the event already in the address: they do not change the address but are requests too. */
function useClicksOn(focus: string | undefined): number {
  const [times, setTimes] = useState(0);
  useEffect(() => {
    if (focus === undefined) return;
    const clicked = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
      if (!link || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const address = new URL(link.href, location.href);
      if (address.pathname === location.pathname && address.searchParams.get('event') === focus) setTimes((n) => n + 1);
    };
    document.addEventListener('click', clicked);
    return () => document.removeEventListener('click', clicked);
  }, [focus]);
  return times;
}
