import { describe, expect, test } from 'vitest';
import { withKept } from './list';

describe('withKept', () => {
  const range = { startIndex: 10, endIndex: 12, overscan: 1, count: 100 };

  test('returns the rows in view, their neighbours and the kept rows, in order', () => {
    expect(withKept(range, [0, 50, 11, -1, 100])).toEqual([0, 9, 10, 11, 12, 13, 50]);
    expect(withKept(range, [])).toEqual([9, 10, 11, 12, 13]);
  });
});
