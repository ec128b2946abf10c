import { expect, test } from 'vitest';
import { costDifference, difference } from './measures';

test('a difference has a sign, and less than a cent is in words', () => {
  expect([0, 2, -2].map((by) => difference(by, String))).toEqual(['same', '+2', '−2']);
  expect([0, 0.5, -0.5, 0.01, -0.01].map(costDifference)).toEqual(['same', '+$0.50', '−$0.50', '+$0.01', '−$0.01']);
  expect([0.0001, -0.0099].map(costDifference)).toEqual(['less than $0.01 more', 'less than $0.01 less']);
});
