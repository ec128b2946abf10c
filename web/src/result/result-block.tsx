/** A block of rows of a result. Far from the viewport, only a placeholder of the same height is rendered. */
import { memo, type ReactNode, useEffect, useRef, useState } from 'react';
import { cn } from '@/ui/cn';
import { cutNote } from './cut';
import type { Matches } from './find';
import { type Found, type Level, levelOf } from './level';
import type { ResultRow } from './lines';

/** The height of a single-line row, as in the class leading-[1.125rem]. */
const rowHeight = 18;
export const blockRows = 100;

interface BlockProps {
  rows: readonly ResultRow[];
  from: number;
  to: number;
  /** Rows that a claim is about, highlighted. */
  marked: ReadonlySet<number>;
  matches: Matches;
  /** The current match, if it is in this block. */
  current: number | undefined;
  /** The row to scroll to, if it is in this block. */
  target: number | undefined;
  wrap: boolean;
}

export const ResultBlock = memo(function ResultBlock(props: BlockProps) {
  const { from, to, target, wrap } = props;
  const list = useRef<HTMLOListElement>(null);
  const [near, setNear] = useState(from < blockRows);
  const drawn = near || target !== undefined;
  useEffect(() => {
    const element = list.current;
    if (element === null || drawn) return;
    const root = element.closest('[data-scroller]');
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && setNear(true), {
      root,
      rootMargin: '600px 0px',
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, [drawn]);
  return (
    <ol
      ref={list}
      style={drawn ? undefined : { height: (to - from) * rowHeight }}
      className={wrap ? '' : 'w-max min-w-full'}
    >
      {drawn &&
        // biome-ignore lint/suspicious/noArrayIndexKey: rows of a result never move
        props.rows.slice(from, to).map((row, at) => <RowView key={from + at} {...props} row={row} at={from + at} />)}
    </ol>
  );
});

const colours: Record<Level, string> = { error: 'text-bad', warn: 'text-warn', info: '', debug: 'text-ink-faint' };
const words: Record<Level, string> = {
  error: 'font-semibold',
  warn: 'font-semibold',
  info: 'font-semibold text-running',
  debug: 'font-semibold',
};

function RowView({ row, at, marked, target, wrap, ...search }: BlockProps & { row: ResultRow; at: number }) {
  const level = levelOf(row.text);
  const relevant = marked.has(at);
  const cut = cutNote(row.text) !== undefined;
  return (
    <li
      data-row={at}
      data-level={level?.level}
      data-relevant={relevant || undefined}
      className={cn(
        'flex gap-3 bg-sunken px-2',
        relevant && 'bg-warn-soft shadow-[inset_3px_0_0_var(--warn)]',
        relevant && at === target && 'font-semibold',
      )}
    >
      <span
        aria-hidden={row.continued}
        className="sticky left-0 w-9 shrink-0 bg-inherit text-right text-ink-faint tabular-nums select-none"
      >
        {row.continued ? '↳' : row.line}
      </span>
      <span
        className={cn(
          'min-w-0',
          wrap ? '[overflow-wrap:anywhere] whitespace-pre-wrap' : 'whitespace-pre',
          level && colours[level.level],
          cut && 'font-semibold text-warn',
        )}
      >
        {relevant && <span className="sr-only">Matches the claim: </span>}
        {piecesOf(row, at, search.matches, search.current, level) ?? (row.text || ' ')}
      </span>
    </li>
  );
}

/** Returns the text with the matches of the search highlighted or, without matches, the word of its level. */
function piecesOf(
  { text }: ResultRow,
  at: number,
  { list, ofRow }: Matches,
  current: number | undefined,
  level: Found | undefined,
): ReactNode[] | undefined {
  const own = ofRow.get(at);
  const pieces: ReactNode[] = [];
  let end = 0;
  if (own === undefined) {
    if (level === undefined) return undefined;
    return [
      text.slice(0, level.start),
      <span key="level" className={words[level.level]}>
        {text.slice(level.start, level.end)}
      </span>,
      text.slice(level.end),
    ];
  }
  for (const index of own) {
    const match = list[index];
    if (match === undefined) continue;
    pieces.push(text.slice(end, match.start));
    pieces.push(
      <mark
        key={index}
        data-current={index === current || undefined}
        className={cn(
          'rounded-sm',
          index === current ? 'bg-accent text-accent-ink' : 'bg-found-soft text-ink outline outline-found',
        )}
      >
        {text.slice(match.start, match.end)}
      </mark>,
    );
    end = match.end;
  }
  pieces.push(text.slice(end));
  return pieces;
}
