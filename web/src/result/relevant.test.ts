import { expect, test } from 'vitest';
import { relevantLines } from './relevant';

const log = [
  ...Array.from({ length: 50 }, (_, n) => `14:01:${n} INFO web-1 cache warm`),
  '14:02:07 ERROR web-1 OOMKilled: 310 MiB used, limit 256 MiB',
  'restarting',
];

test('a line that shares numbers and names with the claim is relevant', () => {
  expect(relevantLines(log, 'The process of web-1 used 310 MiB, and the limit is 256 MiB')).toEqual([50]);
});

test('a claim without common words marks no line', () => {
  expect(relevantLines(log, 'The certificate has expired')).toEqual([]);
  expect(relevantLines(log, '')).toEqual([]);
  expect(relevantLines([], 'web-1')).toEqual([]);
});

test('words that are in every line mark none', () => {
  expect(
    relevantLines(
      Array.from({ length: 30 }, () => 'web-1 is warm'),
      'web-1 is cold',
    ),
  ).toEqual([]);
});

test('at most 12 lines are marked', () => {
  const lines = [...Array.from({ length: 40 }, (_, n) => `${n} failed`), 'ok'];
  expect(relevantLines(lines, 'It failed').length).toBeLessThanOrEqual(12);
});
