import { expect, test } from 'vitest';
import { findIn } from './find';
import { rowsOfText } from './lines';

const find = (text: string, typed: string) => findIn(rowsOfText(text), typed);

test('every occurrence is found regardless of case', () => {
  const { list, ofRow } = find('Pod web-1 POD\nnothing\npod', 'pod');
  expect(list).toEqual([
    { row: 0, start: 0, end: 3 },
    { row: 0, start: 10, end: 13 },
    { row: 2, start: 0, end: 3 },
  ]);
  expect([...ofRow]).toEqual([
    [0, [0, 1]],
    [2, [2]],
  ]);
});

test('the search text is not a pattern', () => {
  expect(find('a.c abc (a+)+', '.').list).toEqual([{ row: 0, start: 1, end: 2 }]);
  expect(find('(a+)+$', '(a+)+$').list).toHaveLength(1);
  expect(find('aaaa', 'aa').list).toHaveLength(2);
});

test('an empty search and a search without matches find nothing', () => {
  expect(find('abc', '').list).toEqual([]);
  expect(find('abc', 'x').list).toEqual([]);
});

test('letters that are longer in lower case keep the offsets correct', () => {
  expect(find('İİ web', 'web').list).toEqual([{ row: 0, start: 3, end: 6 }]);
});

test('the list of matches is limited', () => {
  const { list, more } = find('x'.repeat(20_000), 'x');
  expect(list).toHaveLength(5_000);
  expect(more).toBe(true);
});

test('a mebibyte can be searched', () => {
  const rows = rowsOfText('INFO everything is as it should be\n'.repeat(30_000));
  expect(findIn(rows, 'nowhere').list).toEqual([]);
});
