/** A tool's result as rows of text, and which of them are drawn. Results are untrusted and may have a million lines, or one. */

/** One row: a line of the result, or a part of one that is too long to be drawn at once. */
export interface ResultRow {
  /** The number of the line, from 1. */
  line: number;
  text: string;
  /** Whether the row goes on with the line of the row before. */
  continued: boolean;
}

/** From `from` up to, not including, `to`. */
export interface Span {
  from: number;
  to: number;
}

/** A row of megabytes makes the page stand still: longer lines are several rows. */
const longestRow = 2_000;

/** Results of more rows are shown by their head and their tail. */
const shortResult = 120;
const headRows = 40;
const tailRows = 20;
/** Fewer hidden rows than these are shown: their gap would take as much space. */
const fewestHidden = 5;
/** Rows shown before and after each one that the reader looks for. */
const around = 8;
/** More rows than these are never in the document; Copy has them all. */
export const mostRows = 20_000;

export function rowsOfText(text: string): ResultRow[] {
  const rows: ResultRow[] = [];
  let line = 0;
  for (let start = 0; start <= text.length; ) {
    const found = text.indexOf('\n', start);
    const end = found < 0 ? text.length : found;
    line++;
    pushLine(rows, text.slice(start, end), line);
    start = end + 1;
  }
  // The line break at the end of a text begins no new line.
  if (rows.length > 1 && rows.at(-1)?.text === '') rows.pop();
  return rows;
}

function pushLine(rows: ResultRow[], text: string, line: number): void {
  let start = 0;
  do {
    let end = Math.min(text.length, start + longestRow);
    const last = text.charCodeAt(end - 1);
    // Never half of a character.
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    rows.push({ line, text: text.slice(start, end), continued: start > 0 });
    start = end;
  } while (start < text.length);
}

/** The rows to draw: all of a short result, else head, tail and what is around those that are looked for. */
export function spansOf(total: number, wanted: readonly number[], all: boolean): Span[] {
  if (total <= (all ? mostRows : shortResult)) return total === 0 ? [] : [{ from: 0, to: total }];
  const head = all ? mostRows - tailRows : headRows;
  const spans = [
    { from: 0, to: head },
    ...wanted.map((row) => ({ from: Math.max(0, row - around), to: Math.min(total, row + around + 1) })),
    { from: total - tailRows, to: total },
  ];
  spans.sort((a, b) => a.from - b.from);
  const merged: Span[] = [];
  for (const span of spans) {
    const before = merged.at(-1);
    if (before && span.from < before.to + fewestHidden) before.to = Math.max(before.to, span.to);
    else merged.push(span);
  }
  return merged;
}

/** Spans in blocks of so many rows at most: a block is drawn when it comes near to what the reader sees. */
export function blocksOf(span: Span, size: number): Span[] {
  const blocks: Span[] = [];
  for (let from = span.from; from < span.to; ) {
    // Aligned, so that a block stays the same while its span grows.
    const to = Math.min(span.to, (Math.floor(from / size) + 1) * size);
    blocks.push({ from, to });
    from = to;
  }
  return blocks;
}
