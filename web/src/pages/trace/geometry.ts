/** The positions of the waterfall's bars and of the ruler's marks. Pure functions. */
import type { Span } from './calls';
import type { Row } from './rows';

export interface Range {
  start: number;
  end: number;
}

/** Returns the time range of all rows; running ones last until now. */
export function rangeOf(rows: readonly Pick<Row, 'span'>[], now: number): Range {
  let start = Number.POSITIVE_INFINITY;
  let end = Number.NEGATIVE_INFINITY;
  for (const { span } of rows) {
    if (span === undefined) continue;
    start = Math.min(start, span.start);
    end = Math.max(end, span.end ?? now, span.start);
  }
  return start > end ? { start: now, end: now + 1 } : { start, end: Math.max(end, start + 1) };
}

/** Returns the left edge and width in percent; always inside the range, even with clock skew between servers. */
export function barOf(span: Span, range: Range, now: number): { left: number; width: number } {
  const share = (at: number) => clamp((at - range.start) / (range.end - range.start)) * 100;
  const left = share(span.start);
  const end = Math.max(span.end ?? now, span.start);
  return { left, width: share(end) - left };
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

export function lengthOf(span: Span, now: number): number {
  return Math.max(0, (span.end ?? now) - span.start);
}

const steps = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000].concat(
  [1, 2, 5, 10, 15, 30].map((minutes) => minutes * 60_000),
  [1, 2, 3, 6, 12, 24].map((hours) => hours * 3_600_000),
);

/** Returns the marks of the ruler: round distances from the start, at most as many as fit. */
export function ticksOf(range: Range, most: number): { left: number; at: number }[] {
  const length = range.end - range.start;
  const day = 86_400_000;
  const step = steps.find((candidate) => length / candidate < most) ?? Math.ceil(length / most / day) * day;
  const count = Math.floor(length / step);
  return Array.from({ length: count + 1 }, (_, n) => ({ left: ((n * step) / length) * 100, at: n * step }));
}
