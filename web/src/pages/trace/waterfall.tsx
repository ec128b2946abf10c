/**
 * The tree of calls next to their waterfall. Only visible rows are rendered, so the tree is one stop in the tab order
 * and names its active row (aria-activedescendant), which is always rendered.
 */
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { duration } from '@/text/format';
import { cn } from '@/ui/cn';
import { useWidth } from '@/ui/width';
import type { Shown } from './filter';
import { type Range, ticksOf } from './geometry';
import { type Band, Bar, Name, Numbers } from './row';
import type { Row } from './rows';
import { treeMove } from './tree';

/** In a narrower tree, the bar of a row is below its name. */
const wide = 620;
const wideRow = 32;
const narrowRow = 56;
const columns = 'grid grid-cols-[minmax(0,1fr)_11rem_minmax(0,1.1fr)] items-center gap-3';

export function Waterfall({
  rows,
  range,
  now,
  gaps,
  selected,
  onSelect,
  onToggle,
}: {
  rows: readonly Shown[];
  range: Range;
  now: number;
  gaps: readonly Band[];
  selected: string | undefined;
  onSelect: (id: string) => void;
  onToggle: (id: string) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const narrow = width < wide;
  const [active, setActive] = useState(selected ?? '');
  // If the active row disappears because an ancestor was closed, the first row becomes active.
  const at = useMemo(
    () =>
      Math.max(
        0,
        rows.findIndex(({ row }) => row.id === active),
      ),
    [rows, active],
  );
  const height = narrow ? narrowRow : wideRow;
  // The function keeps its identity while the rows are the same: a new one would re-measure every row.
  const keyOf = useCallback((index: number) => rows[index]?.row.id ?? index, [rows]);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    getItemKey: keyOf,
    overscan: 12,
    rangeExtractor: (drawn) => [...new Set([...defaultRangeExtractor(drawn), at])].sort((a, b) => a - b),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: only the height of a row asks for new measures.
  useEffect(() => virtual.measure(), [height]);
  // Scrolls once to a call selected elsewhere, by the address or a command; later scrolling is left alone.
  const scrolled = useRef<string>(undefined);
  useEffect(() => {
    if (selected === undefined || selected === scrolled.current || width === 0) return;
    const index = rows.findIndex(({ row }) => row.id === selected);
    if (index < 0) return;
    scrolled.current = selected;
    setActive(selected);
    virtual.scrollToIndex(index, { align: 'center' });
  }, [rows, width, virtual, selected]);

  const go = (index: number) => {
    setActive(rows[index]?.row.id ?? '');
    virtual.scrollToIndex(index, { align: 'auto' });
  };
  const act = (row: Row) => {
    setActive(row.id);
    // The row is where the reader clicked, so it is already visible.
    scrolled.current = row.id;
    if (row.kind === 'llm' || row.kind === 'mcp') onSelect(row.id);
    else if (row.kind !== 'gap') onToggle(row.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = rows[at]?.row;
    if (row !== undefined && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      act(row);
      return;
    }
    const move = treeMove(rows, at, event.key);
    if (move === undefined) return;
    event.preventDefault();
    if ('to' in move) go(move.to);
    else onToggle(move.toggle);
  };

  return (
    <div ref={scroller} className="h-full overflow-y-auto bg-surface [scrollbar-gutter:stable]" data-testid="waterfall">
      <Ruler range={range} narrow={narrow} width={width} />
      <div
        role="tree"
        aria-label="Calls"
        tabIndex={0}
        aria-activedescendant={rows[at] && rowId(rows[at].row)}
        className="relative outline-none [&:focus-visible_[data-active]]:outline-2 [&:focus-visible_[data-active]]:-outline-offset-2 [&:focus-visible_[data-active]]:outline-focus"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const shown = rows[index];
          if (shown === undefined) return null;
          const { row } = shown;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the tree has the focus and the keys.
            <div
              key={row.id}
              id={rowId(row)}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={shown.position}
              aria-setsize={shown.siblings}
              aria-expanded={shown.open}
              aria-selected={row.id === selected}
              data-active={index === at || undefined}
              data-call={row.kind === 'llm' || row.kind === 'mcp' ? row.id : undefined}
              data-kind={row.kind}
              className={cn(
                'absolute inset-x-0 top-0 cursor-pointer border-b border-line/60 px-2 hover:bg-sunken sm:px-3',
                narrow ? 'grid grid-rows-[1fr_1rem] pb-1' : columns,
                row.id === selected && 'bg-accent-soft hover:bg-accent-soft',
              )}
              style={{ height, transform: `translateY(${start}px)` }}
              onClick={() => act(row)}
            >
              <Name shown={shown} narrow={narrow} now={now} />
              {!narrow && <Numbers row={row} now={now} />}
              <Bar row={row} range={range} now={now} gaps={gaps} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function rowId(row: Row): string {
  return `call-${row.id}`;
}

function Ruler({ range, narrow, width }: { range: Range; narrow: boolean; width: number }) {
  const room = narrow ? width : width * 0.4;
  const ticks = ticksOf(range, Math.max(2, Math.floor(room / 72)));
  return (
    <div
      aria-hidden
      className={cn(
        'sticky top-0 z-10 h-7 border-b border-line bg-surface px-2 text-xs text-ink-faint sm:px-3',
        narrow ? 'flex items-center' : columns,
      )}
    >
      {!narrow && (
        <>
          <span>Call</span>
          <span className="grid grid-cols-[4rem_3rem_3.5rem] gap-1 text-right">
            <span>Time</span>
            <span>Tokens</span>
            <span>Cost</span>
          </span>
        </>
      )}
      <div className="relative h-full min-w-0 flex-1 overflow-hidden">
        {/* Omits a label at the very end, which would be cut off. */}
        {ticks
          .filter((tick) => tick.left < 92)
          .map((tick) => (
            <span
              key={tick.at}
              className="absolute inset-y-0 flex items-center border-l border-line pl-1 whitespace-nowrap"
              style={{ left: `${Math.min(tick.left, 99.8)}%` }}
            >
              {tick.at === 0 ? '0' : duration(tick.at)}
            </span>
          ))}
      </div>
    </div>
  );
}
