/**
 * The tree of calls beside their waterfall. Only the rows in sight are drawn, so the tree has one place in the tab order
 * and names its active row (aria-activedescendant); that row is always drawn.
 */
import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import { Bot, ChevronRight, CircleUser, Layers, ScrollText, Wrench } from 'lucide-react';
import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { duration, tokens } from '@/text/format';
import { cn } from '@/ui/cn';
import { Cost } from '@/ui/cost';
import { StatusIcon } from '@/ui/status';
import { useWidth } from '@/ui/width';
import { barOf, lengthOf, type Range, ticksOf } from './geometry';
import type { Row } from './rows';
import { treeMove } from './tree';

/** Narrower than this, a row has its bar under its name. */
const wide = 620;
const wideRow = 32;
const narrowRow = 56;
const columns = 'grid grid-cols-[minmax(0,1fr)_11rem_minmax(0,1.1fr)] items-center gap-3';

const icons = { stage: Layers, execution: CircleUser, llm: Bot, mcp: Wrench, session: ScrollText };

export function Waterfall({
  rows,
  range,
  now,
  selected,
  onSelect,
  onToggle,
}: {
  rows: readonly Row[];
  range: Range;
  now: number;
  selected: string | undefined;
  onSelect: (id: string) => void;
  onToggle: (id: string) => void;
}) {
  const scroller = useRef<HTMLDivElement>(null);
  const width = useWidth(scroller);
  const narrow = width < wide;
  const [active, setActive] = useState(selected ?? '');
  // A row that is gone, because one above it was closed, leaves the first as the active one.
  const at = useMemo(
    () =>
      Math.max(
        0,
        rows.findIndex((row) => row.id === active),
      ),
    [rows, active],
  );
  const height = narrow ? narrowRow : wideRow;
  // The same function while the rows are the same: with a new one every row is measured again.
  const keyOf = useCallback((index: number) => rows[index]?.id ?? index, [rows]);
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
  // The call in the address is scrolled to once; later scrolling is left alone.
  const first = useRef(selected);
  useEffect(() => {
    const index = rows.findIndex((row) => row.id === first.current);
    if (index < 0 || width === 0) return;
    first.current = undefined;
    virtual.scrollToIndex(index, { align: 'center' });
  }, [rows, width, virtual]);

  const go = (index: number) => {
    setActive(rows[index]?.id ?? '');
    virtual.scrollToIndex(index, { align: 'auto' });
  };
  const act = (row: Row) => {
    setActive(row.id);
    if (row.kind === 'llm' || row.kind === 'mcp') onSelect(row.id);
    else onToggle(row.id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const row = rows[at];
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
        aria-activedescendant={rows[at] && rowId(rows[at])}
        className="relative outline-none [&:focus-visible_[data-active]]:outline-2 [&:focus-visible_[data-active]]:-outline-offset-2 [&:focus-visible_[data-active]]:outline-focus"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={onKeyDown}
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/useFocusableInteractive: the tree has the focus and the keys.
            <div
              key={row.id}
              id={rowId(row)}
              role="treeitem"
              aria-level={row.level}
              aria-posinset={row.position}
              aria-setsize={row.siblings}
              aria-expanded={'open' in row ? row.open : undefined}
              aria-selected={row.id === selected}
              data-active={index === at || undefined}
              data-call={'open' in row ? undefined : row.id}
              className={cn(
                'absolute inset-x-0 top-0 cursor-pointer border-b border-line/60 px-2 hover:bg-sunken sm:px-3',
                narrow ? 'flex flex-col justify-center gap-1' : columns,
                row.id === selected && 'bg-accent-soft hover:bg-accent-soft',
              )}
              style={{ height, transform: `translateY(${start}px)` }}
              onClick={() => act(row)}
            >
              <Name row={row} narrow={narrow} now={now} />
              {!narrow && <Numbers row={row} now={now} />}
              <Bar row={row} range={range} now={now} />
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

const indents = ['', 'pl-0', 'pl-4', 'pl-9'];

function Name({ row, narrow, now }: { row: Row; narrow: boolean; now: number }) {
  const Icon = icons[row.kind];
  const group = 'open' in row;
  return (
    <div className={cn('flex min-w-0 items-center gap-1.5', indents[row.level])}>
      {group && (
        <ChevronRight
          className={cn('size-4 shrink-0 text-ink-faint transition-transform', row.open && 'rotate-90')}
          aria-hidden
        />
      )}
      {row.status === 'completed' ? (
        <Icon className="size-4 shrink-0 text-ink-faint" aria-hidden />
      ) : (
        <StatusIcon status={row.status} />
      )}
      <span
        className={cn(
          'min-w-0 truncate',
          row.level === 1 && 'font-semibold',
          row.kind === 'mcp' && 'font-mono text-xs',
        )}
      >
        {row.label}
      </span>
      <span className="min-w-0 flex-1 truncate text-xs text-ink-faint">{row.hint}</span>
      {narrow && (
        <span className="shrink-0 text-xs text-ink-soft tabular-nums">
          {row.span && duration(lengthOf(row.span, now))}
          {row.usage && row.usage.cost_usd > 0 && (
            <>
              {' · '}
              <Cost usage={row.usage} />
            </>
          )}
        </span>
      )}
    </div>
  );
}

function Numbers({ row, now }: { row: Row; now: number }) {
  return (
    <div className="grid grid-cols-[4rem_3rem_3.5rem] gap-1 text-right text-xs text-ink-soft tabular-nums">
      <span>{row.span && duration(lengthOf(row.span, now))}</span>
      <span>{row.usage && tokens(row.usage.total_tokens)}</span>
      <span className="truncate">{row.usage && <Cost usage={row.usage} />}</span>
    </div>
  );
}

const tones: Record<string, string> = {
  failed: 'bg-bad',
  timed_out: 'bg-warn',
  unknown: 'bg-warn',
  started: 'bg-running',
  active: 'bg-running',
};

/** How long it took, as a picture; the numbers say the same. */
function Bar({ row, range, now }: { row: Row; range: Range; now: number }) {
  const bar = row.span && barOf(row.span, range, now);
  const group = 'open' in row;
  return (
    <div className="relative h-4 min-w-0" aria-hidden>
      {bar && (
        <div
          className={cn(
            'absolute min-w-0.5 rounded-sm',
            group ? 'top-1.5 h-1' : 'top-0.5 h-3',
            tones[row.status] ?? (group ? 'bg-line-strong' : row.kind === 'llm' ? 'bg-accent' : 'bg-ink-faint'),
          )}
          style={{ left: `${Math.min(bar.left, 99.5)}%`, width: `${bar.width}%` }}
        />
      )}
    </div>
  );
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
        {/* A label at the very end would be cut off. */}
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
