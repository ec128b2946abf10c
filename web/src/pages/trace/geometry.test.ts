import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trace } from './fixture';
import { barOf, rangeOf, ticksOf } from './geometry';
import { rowsOf } from './rows';

describe('the waterfall', () => {
  const span = fc.record({ start: fc.integer({ min: 0, max: 1e9 }), length: fc.option(fc.nat(1e9)) });

  test('bars are within the range, and concurrent calls overlap', () => {
    fc.assert(
      fc.property(fc.array(span, { minLength: 1 }), fc.integer({ min: 0, max: 2e9 }), (spans, now) => {
        const rows = spans.map(({ start, length }) => ({
          span: { start, end: length === null ? undefined : start + length },
        }));
        const range = rangeOf(rows, now);
        const bars = rows.map((row) => barOf(row.span, range, now));
        for (const bar of bars) {
          expect(bar.left).toBeGreaterThanOrEqual(0);
          expect(bar.width).toBeGreaterThanOrEqual(0);
          expect(bar.left + bar.width).toBeLessThanOrEqual(100.000001);
        }
      }),
    );
    // Clock skew does not push a bar out of the range.
    expect(barOf({ start: -50, end: 300 }, { start: 0, end: 100 }, 0)).toEqual({ left: 0, width: 100 });
    const rows = rowsOf(trace, new Map(), () => undefined);
    const range = rangeOf(rows, 0);
    const bar = (id: string) => barOf(rows.find((row) => row.id === id)?.span ?? { start: 0, end: 0 }, range, 0);
    expect(bar('l4').left).toBeLessThan(bar('l3').left + bar('l3').width);
    expect(bar('l3').left).toBeLessThan(bar('l4').left + bar('l4').width);
  });

  test('the ruler has as many round ticks as fit', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e10 }), fc.integer({ min: 2, max: 12 }), (length, most) => {
        const ticks = ticksOf({ start: 7, end: 7 + length }, most);
        expect(ticks[0]).toEqual({ left: 0, at: 0 });
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        for (const tick of ticks) expect(tick.left).toBeLessThanOrEqual(100);
      }),
    );
    expect(ticksOf({ start: 0, end: 90_000 }, 6).map((tick) => tick.at)).toEqual([0, 30_000, 60_000, 90_000]);
  });

  test('a trace without calls has a range', () => {
    expect(rangeOf([], 5)).toEqual({ start: 5, end: 6 });
  });
});
