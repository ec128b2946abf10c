/**
 * Splits a tool's result into rows of text and selects those to render. Results are untrusted and may have a million
 * lines, or one.
 */

/** One row: a line of the result, or a part of one that is too long for a single row. */
export interface ResultRow {
  /** The number of the line, from 1. */
  line: number;
  text: string;
  /** Whether the row continues the previous row's line. */
  continued: boolean;
}

/** From `from` up to but excluding `to`. */
export interface Span {
  from: number;
  to: number;
}

/** A row of megabytes would freeze the page, so longer lines are split into several rows. */
const longestRow = 2_000;

/** Longer results show only their head and tail. */
const shortResult = 120;
const headRows = 40;
const tailRows = 20;
/** Fewer hidden rows than this are shown: a gap would take as much space. */
const fewestHidden = 5;
/** Rows shown before and after each row of interest. */
const around = 8;
/** The most rows in the document; Copy includes all. */
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
  // A trailing line break does not start a new line.
  if (rows.length > 1 && rows.at(-1)?.text === '') rows.pop();
  return rows;
}

function pushLine(rows: ResultRow[], text: string, line: number): void {
  let start = 0;
  do {
    let end = Math.min(text.length, start + longestRow);
    const last = text.charCodeAt(end - 1);
    // Do not split a surrogate pair.
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end--;
    rows.push({ line, text: text.slice(start, end), continued: start > 0 });
    start = end;
  } while (start < text.length);
}

/**
 * Returns the rows to render: all of a short result, otherwise the head, the tail, and the surroundings of the wanted
 * rows.
 */
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

/** Splits a span into blocks of at most `size` rows: a block is rendered when it comes near the viewport. */
export function blocksOf(span: Span, size: number): Span[] {
  const blocks: Span[] = [];
  for (let from = span.from; from < span.to; ) {
    // Aligned, so that blocks stay the same while their span grows.
    const to = Math.min(span.to, (Math.floor(from / size) + 1) * size);
    blocks.push({ from, to });
    from = to;
  }
  return blocks;
}
