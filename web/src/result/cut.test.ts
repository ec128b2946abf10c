import { expect, test } from 'vitest';
import { cutsOf } from './cut';
import { rowsOfText } from './lines';

const cuts = (text: string) => cutsOf(rowsOfText(text));

test('truncation notes have the missing amount', () => {
  expect(cuts('head\n\n[cut: about 12000 of 20000 tokens left out]\n\ntail')).toEqual([
    { missing: 12_000, whole: 20_000, unit: 'tokens' },
  ]);
  expect(cuts('head\n[… cut: about 1024 of 2097152 bytes left out …]\ntail')).toEqual([
    { missing: 1_024, whole: 2_097_152, unit: 'bytes' },
  ]);
  expect(cuts('head\n[… cut: the first 100 of 3000000 bytes are shown]')).toEqual([
    { missing: 2_999_900, whole: 3_000_000, unit: 'bytes' },
  ]);
});

test('a result truncated twice has one note of each kind', () => {
  const note = '[… cut: about 10 of 90 bytes left out …]';
  expect(cuts(`${note}\n${note}\n[cut: about 5 of 30 tokens left out]`).map(({ unit }) => unit)).toEqual([
    'bytes',
    'tokens',
  ]);
});

test('text that only resembles a note is ignored', () => {
  for (const text of [
    'see [cut: about 1 of 2 tokens left out]',
    '[cut: about 3 of 2 tokens left out]',
    '[cut: about 0 of 2 tokens left out]',
    '[cut: about -1 of 2 tokens left out]',
    `[cut: about ${'9'.repeat(400)} of 2 tokens left out]`,
    '"cut": true',
  ]) {
    expect(cuts(text), text).toEqual([]);
  }
});
