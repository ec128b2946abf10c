import { describe, expect, test } from 'vitest';
import {
  age,
  ago,
  beginning,
  clockTime,
  cost,
  counted,
  dateTime,
  dayLabel,
  dueLabel,
  duration,
  elapsed,
  exactCost,
  firstLine,
  percent,
  shortId,
  spent,
  tokens,
} from './format';

describe('durations have at most two units', () => {
  test.each([
    [-5, '0 ms'],
    [240, '240 ms'],
    [4200, '4.2 s'],
    [59_900, '59 s'],
    [185_000, '3 m 05 s'],
    [7_800_000, '2 h 10 m'],
    [180_000_000, '2 d 2 h'],
  ])('%d ms is %s', (ms, text) => expect(duration(ms)).toBe(text));
});

test('a short id is the part that differs within a minute', () => {
  expect(shortId('01a1e508-3a7a-76a5-9b1e-12a2a11c90d8')).toBe('12a2a11c90d8');
  expect(shortId('abc')).toBe('abc');
});

test('an age has one unit, and a future time is now', () => {
  const now = new Date('2026-11-15T12:00:00Z');
  expect(age('2026-11-15T12:00:30Z', now)).toBe('now');
  expect(age('2026-11-15T11:59:15Z', now)).toBe('45 s');
  expect(age('2026-11-15T09:00:00Z', now)).toBe('3 h');
  expect(elapsed(null, null, now)).toBe(0);
  expect(elapsed('2026-11-15T11:59:00Z', null, now)).toBe(60_000);
});

test('costs have two decimals, and less than a cent is not shown as free', () => {
  expect([0, 0.00001, 0.0099, 0.01, 0.0394, 12.5].map(cost)).toEqual([
    '$0.00',
    '<$0.01',
    '<$0.01',
    '$0.01',
    '$0.04',
    '$12.50',
  ]);
  expect([0, 0.00001, 0.0394, 12.5, 0.1234567].map(exactCost)).toEqual([
    '$0.00',
    '$0.00001',
    '$0.0394',
    '$12.50',
    '$0.123457',
  ]);
});

test('times have 24 hours and a zone', () => {
  const at = new Date(2026, 10, 15, 14, 5, 9);
  expect(clockTime(at, 'local')).toMatch(/^14.05.09\s\S+/);
  expect(dateTime(at, 'local')).toMatch(/2026.*14.05.09\s\S+/);
  expect(clockTime(new Date(2026, 10, 15, 0, 5, 9), 'local')).toMatch(/^00.05.09\s\S+/);
});

test('tokens are rounded for reading', () => {
  expect([999, 1200, 120_000, 2_500_000].map(tokens)).toEqual(['999', '1.2k', '120k', '2.5M']);
});

describe('the first line', () => {
  test('is the first sentence without Markdown', () =>
    expect(firstLine('\n---\n## **Out** of `memory`\nmore')).toBe('Out of memory'));
  test('keeps names with underscores', () =>
    expect(firstLine('**REINDEX_WORKERS** went _up_')).toBe('REINDEX_WORKERS went up'));
  test('continues over a line wrap', () =>
    expect(firstLine('The pod ran\nout of memory.\n\nThen')).toBe('The pod ran out of memory.'));
  test('ends at a list or a table', () => expect(firstLine('Found:\n- one\n- two')).toBe('Found:'));
  test('is truncated if it is long', () => expect(firstLine('a'.repeat(1_000_000), 10)).toBe('aaaaaaaaaa…'));
  test('is empty for a text without words', () => expect(firstLine('***\n\n--')).toBe(''));
});

test('ago returns part of a sentence', () => {
  const now = new Date('2026-11-15T12:00:00Z');
  expect(ago('2026-11-15T11:59:59Z', now)).toBe('just now');
  expect(ago('2026-11-15T09:00:00Z', now)).toBe('3 h ago');
});

test('usage without a price is not shown as free', () => {
  expect(spent({ cost_usd: 0.5, unpriced_tokens: 0 })).toBe('$0.50');
  expect(spent({ cost_usd: 0.5, unpriced_tokens: 1 })).toBe('$0.50+');
  expect(spent({ cost_usd: 0, unpriced_tokens: 1 })).toBe('no price');
  expect(spent({ cost_usd: 0, unpriced_tokens: 0 })).toBe('$0.00');
});

test('a count of one is singular, all others plural', () => {
  expect([0, 1, 2].map((count) => counted(count, 'call'))).toEqual(['0 calls', '1 call', '2 calls']);
});

test('shares are formatted as percentages', () => {
  expect([0, 0.001, 0.5, 1].map(percent)).toEqual(['0%', '<1%', '50%', '100%']);
});

test('a day is labelled in UTC in any time zone', () => {
  expect(dayLabel('2026-11-01')).toMatch(/\b1\b/);
  expect(dayLabel('<b>x')).toBe('<b>x');
});

describe('the beginning of a text', () => {
  test('is the text itself if it is short', () => expect(beginning('abc', 3)).toBe('abc'));
  test('never splits a character', () => {
    expect(beginning('ab😀c', 3)).toBe('ab');
    expect(beginning('ab😀c', 4)).toBe('ab😀');
  });
});

test('a due date has a year unless it is the current one', () => {
  const now = new Date(2026, 10, 16);
  expect(dueLabel('2026-11-20', now)).toBe(dayLabel('2026-11-20'));
  expect(dueLabel('2020-01-31', now)).toBe(`${dayLabel('2020-01-31')} 2020`);
});
