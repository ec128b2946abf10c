import { expect, it } from 'vitest';
import { withRow } from './rows';

it('adds the selected row in its place, even out of view', () => {
  expect(withRow([4, 5, 6], 5)).toEqual([4, 5, 6]);
  expect(withRow([4, 5, 6], 1)).toEqual([1, 4, 5, 6]);
  expect(withRow([4, 5, 6], 90)).toEqual([4, 5, 6, 90]);
  expect(withRow([4, 5, 6], -1)).toEqual([4, 5, 6]);
});
