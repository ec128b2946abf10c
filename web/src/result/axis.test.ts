import fc from 'fast-check';
import { expect, test } from 'vitest';
import { shortNumber, timeMarks, valueRange } from './axis';

test('time marks are even and as many as fit', () => {
  expect(timeMarks(3_600, 7_200, 5, 'utc')).toEqual([3_600, 4_500, 5_400, 6_300, 7_200]);
  expect(timeMarks(10, 3_590, 3, 'utc')).toEqual([1_800]);
});

test('the number of marks is bounded, and a scale is never empty', () => {
  const time = fc.double({ min: 0, max: 1e11, noNaN: true });
  // Within the limits of series.ts.
  const value = fc.double({ min: -1e30, max: 1e30, noNaN: true }).map((n) => (Math.abs(n) < 1e-20 ? 0 : n));
  fc.assert(
    fc.property(time, time, fc.double({ noNaN: true }), value, value, (a, b, fit, x, y) => {
      expect(timeMarks(Math.min(a, b), Math.max(a, b), fit, 'utc').length).toBeLessThanOrEqual(13);
      const [least, most] = [Math.min(x, y), Math.max(x, y)];
      const [low, high] = valueRange(least, most);
      expect(low).toBeLessThanOrEqual(least);
      expect(high).toBeGreaterThan(low);
      expect(low + (high - low) / 1000).toBeGreaterThan(low);
    }),
  );
  expect(valueRange(null, null)).toEqual([0, 1]);
  expect(valueRange(5, 5)[0]).toBeGreaterThan(4.9);
});

test('numbers are short', () => {
  expect([0, 12.34567, 1_234_567, 1e-9, 3e20, null].map(shortNumber)).toEqual([
    '0',
    '12.35',
    '1.235M',
    '1.00e-9',
    '3.00e+20',
    '–',
  ]);
});
