import { expect, it } from 'vitest';
import { budget, firstPage, weight } from '../test/kit/bundle';

it('the first page weighs no more than its budget', ({ skip }) => {
  const files = firstPage() ?? skip('web/dist is not built: run make web');
  expect(files.size).toBeGreaterThan(5);
  const heaviest = [...files].sort(([, a], [, b]) => b - a).slice(0, 5);
  expect(
    weight(files),
    `the heaviest are ${heaviest.map(([name, size]) => `${name} ${size}`).join(', ')}`,
  ).toBeLessThan(budget);
});
