import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blocksOf, mostRows, rowsOfText, spansOf } from './lines';

test('lines are numbered, and a trailing line break starts no line', () => {
  expect(rowsOfText('a\n\nb\n')).toEqual([
    { line: 1, text: 'a', continued: false },
    { line: 2, text: '', continued: false },
    { line: 3, text: 'b', continued: false },
  ]);
  expect(rowsOfText('')).toEqual([{ line: 1, text: '', continued: false }]);
});

test('a long line is several rows with one number, without split characters', () => {
  const rows = rowsOfText(`${'x'.repeat(1_999)}😀${'y'.repeat(3_000)}\nend`);
  expect(rows.map(({ line, continued, text }) => [line, continued, text.length])).toEqual([
    [1, false, 1_999],
    [1, true, 2_000],
    [1, true, 1_002],
    [2, false, 3],
  ]);
  expect(rows[1]?.text.startsWith('😀')).toBe(true);
});

test('rows contain the whole text', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 5_000 }), { maxLength: 8 }), (lines) => {
      const text = lines.map((line) => line.replaceAll('\n', ' ')).join('\n');
      const joined = rowsOfText(text)
        .map((row, at) => (row.continued || at === 0 ? '' : '\n') + row.text)
        .join('');
      expect(text.endsWith('\n') ? `${joined}\n` : joined).toBe(text);
    }),
  );
});

test('a long result shows its head, its tail and the matches', () => {
  expect(spansOf(120, [], false)).toEqual([{ from: 0, to: 120 }]);
  expect(spansOf(0, [], false)).toEqual([]);
  expect(spansOf(1_000, [], false)).toEqual([
    { from: 0, to: 40 },
    { from: 980, to: 1_000 },
  ]);
  expect(spansOf(1_000, [500, 503, 45], false)).toEqual([
    { from: 0, to: 54 },
    { from: 492, to: 512 },
    { from: 980, to: 1_000 },
  ]);
  // A gap of a few rows is not hidden.
  expect(spansOf(1_000, [52], false)[0]).toEqual({ from: 0, to: 61 });
  expect(spansOf(1_000, [53], false)).toHaveLength(3);
  expect(spansOf(1_000, [500], true)).toEqual([{ from: 0, to: 1_000 }]);
});

test('the number of rows in the document is limited', () => {
  const spans = spansOf(1_000_000, [], true);
  expect(spans.reduce((sum, { from, to }) => sum + to - from, 0)).toBe(mostRows);
  expect(spans.at(-1)?.to).toBe(1_000_000);
});

test('blocks cover their span and stay the same when it grows', () => {
  expect(blocksOf({ from: 492, to: 512 }, 100)).toEqual([
    { from: 492, to: 500 },
    { from: 500, to: 512 },
  ]);
  expect(blocksOf({ from: 0, to: 250 }, 100).slice(0, 2)).toEqual(blocksOf({ from: 0, to: 200 }, 100));
});

test('a mebibyte of lines can be split', () => {
  expect(rowsOfText('ERROR something\n'.repeat(65_536))).toHaveLength(65_536);
});
