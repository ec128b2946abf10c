/** The visible rows of a result, in blocks, with gaps for hidden rows. */
import { useEffect, useMemo, useRef } from 'react';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import type { Matches } from './find';
import { blocksOf, type ResultRow, type Span, spansOf } from './lines';
import { blockRows, ResultBlock } from './result-block';

interface ResultRowsProps {
  rows: readonly ResultRow[];
  marked: readonly number[];
  matches: Matches;
  current: number;
  /** The row to scroll to. */
  target: number | undefined;
  all: boolean;
  showAll: () => void;
  wrap: boolean;
  flow: boolean;
  label: string;
}

export function ResultRows({
  rows,
  marked,
  matches,
  current,
  target,
  all,
  showAll,
  wrap,
  flow,
  label,
}: ResultRowsProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (target === undefined) return;
    const row = box.current?.querySelector(`[data-row="${target}"]`);
    // Not scrollIntoView, which would also scroll the page around the result.
    const scroller = box.current?.closest('[data-scroller]');
    if (!row || !scroller) return;
    const offset = row.getBoundingClientRect().top - scroller.getBoundingClientRect().top;
    scroller.scrollTop += offset - scroller.clientHeight / 2;
  }, [target]);
  const set = useMemo(() => new Set(marked), [marked]);
  const spans = useMemo(
    () => spansOf(rows.length, target === undefined ? marked : [...marked, target], all),
    [rows, marked, target, all],
  );
  const within = (span: Span, row: number | undefined) =>
    row !== undefined && row >= span.from && row < span.to ? row : undefined;
  const currentRow = matches.list[current]?.row;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms
    <div
      ref={box}
      role="group"
      aria-label={`${label} lines`}
      data-scroller={flow ? undefined : true}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className={cn(
        'overflow-auto rounded-md border border-line bg-sunken py-1 font-mono text-xs leading-[1.125rem]',
        !flow && 'max-h-112',
      )}
    >
      {spans.map((span, index) => {
        const hidden = span.from - (spans[index - 1]?.to ?? 0);
        return [
          hidden > 0 && <Gap key={`gap-${span.from}`} rows={hidden} showAll={all ? undefined : showAll} />,
          ...blocksOf(span, blockRows).map((block) => (
            <ResultBlock
              key={block.from}
              rows={rows}
              from={block.from}
              to={block.to}
              marked={set}
              matches={matches}
              current={within(block, currentRow) === undefined ? undefined : current}
              target={within(block, target)}
              wrap={wrap}
            />
          )),
        ];
      })}
    </div>
  );
}

function Gap({ rows, showAll }: { rows: number; showAll?: () => void }) {
  return (
    <p className="sticky left-0 my-1 flex w-fit max-w-full flex-wrap items-center gap-x-2 px-2 py-0.5 font-sans text-ink-soft">
      <span>
        {rows.toLocaleString()} {rows === 1 ? 'line' : 'lines'} hidden
      </span>
      {showAll && (
        <>
          <span aria-hidden>·</span>
          <Button variant="link" size="sm" className="h-6 px-0" onClick={showAll}>
            Show all
          </Button>
        </>
      )}
    </p>
  );
}
