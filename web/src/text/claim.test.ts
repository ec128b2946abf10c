import { expect, test } from 'vitest';
import { claimAt } from './claim';

test.each([
  ['The limit is low', '. The log agrees.', 'The limit is low'],
  ['It restarts. The limit is low', '.', 'The limit is low'],
  ['The limit is low', ', and the log agrees. More.', 'The limit is low , and the log agrees.'],
  ['The limit is low. ', '', 'The limit is low.'],
])('the claim of a citation between %j and %j is its sentence', (before, after, claim) => {
  expect(claimAt(before, after)).toBe(claim);
});
