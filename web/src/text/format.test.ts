import { describe, expect, test } from 'vitest';
import { age, cost, duration, elapsed, firstLine, tokens } from './format';

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

test('an age has one unit, and the future is now', () => {
  const now = new Date('2026-11-15T12:00:00Z');
  expect(age('2026-11-15T12:00:30Z', now)).toBe('now');
  expect(age('2026-11-15T11:59:15Z', now)).toBe('45 s');
  expect(age('2026-11-15T09:00:00Z', now)).toBe('3 h');
  expect(elapsed(null, null, now)).toBe(0);
  expect(elapsed('2026-11-15T11:59:00Z', null, now)).toBe(60_000);
});

test('small costs keep the digits that say something', () => {
  expect([0, 0.00001, 0.0394, 0.15, 12.5].map(cost)).toEqual(['$0.00', '<$0.0001', '$0.0394', '$0.15', '$12.50']);
});

test('tokens are rounded for reading', () => {
  expect([999, 1200, 120_000, 2_500_000].map(tokens)).toEqual(['999', '1.2k', '120k', '2.5M']);
});

describe('the first line', () => {
  test('is what a text says, without Markdown', () =>
    expect(firstLine('\n---\n## **Out** of `memory`\nmore')).toBe('Out of memory'));
  test('leaves names whole', () => expect(firstLine('**REINDEX_WORKERS** went _up_')).toBe('REINDEX_WORKERS went up'));
  test('goes on where a line only wraps', () =>
    expect(firstLine('The pod ran\nout of memory.\n\nThen')).toBe('The pod ran out of memory.'));
  test('ends at a list or a table', () => expect(firstLine('Found:\n- one\n- two')).toBe('Found:'));
  test('is cut where it is long', () => expect(firstLine('a'.repeat(1_000_000), 10)).toBe('aaaaaaaaaa…'));
  test('is empty where nothing is said', () => expect(firstLine('***\n\n--')).toBe(''));
});
