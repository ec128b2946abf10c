import { expect, test } from 'vitest';
import { isLong } from './fold';
import { freshnessWords } from './freshness';

test('a text is long by its line breaks or by its wrapped lines', () => {
  expect(isLong('')).toBe(false);
  expect(isLong('a\n'.repeat(10))).toBe(false);
  expect(isLong('a\n'.repeat(24))).toBe(true);
  expect(isLong('x'.repeat(90 * 30))).toBe(true);
  expect(isLong('x'.repeat(1000), 12)).toBe(true);
});

test('a page that is behind shows how old its data is', () => {
  const since = new Date('2026-01-02T03:12:05');
  expect(freshnessWords({ state: 'behind', since, reason: 'connecting' }, 'utc')).toMatch(
    /^Connection lost\. Showing the state as of .*12.05.*; reconnecting…$/,
  );
  expect(freshnessWords({ state: 'behind', since, reason: 'catching-up' }, 'utc')).toBe('Catching up…');
});
