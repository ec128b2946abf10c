import { describe, expect, test } from 'vitest';
import { nextStop } from './roving';

describe('nextStop', () => {
  // 0 is a header, 1 and 4 are stages.
  const isStop = (index: number) => ![0, 1, 4].includes(index);

  test.each([
    ['ArrowDown', 2, 3],
    ['ArrowDown', 3, 5],
    ['ArrowUp', 5, 3],
    ['ArrowUp', 2, undefined],
    ['ArrowDown', 9, undefined],
    ['Home', 7, 2],
    ['End', 2, 9],
    ['Enter', 2, undefined],
    ['constructor', 2, undefined],
  ])('%s from row %i', (key, from, to) => {
    expect(nextStop(key, from, 10, isStop)).toBe(to);
  });
});
