import { expect, it } from 'vitest';
import { budgets, firstPage, weight } from '../test/kit/bundle';

it.for(['first', 'whole'] as const)('the files of the %s page stay within the budget', (which, { skip }) => {
  const built = firstPage() ?? skip('web/dist is not built: run make web');
  const files = built[which];
  const listed = [...files]
    .sort(([, a], [, b]) => b - a)
    .map(([name, size]) => `${name} ${size}`)
    .join(', ');
  expect(files.size, listed).toBeGreaterThan(3);
  expect(files.size, listed).toBeLessThanOrEqual(budgets[which].files);
  expect(weight(files), listed).toBeLessThan(budgets[which].bytes);
});
