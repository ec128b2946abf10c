import { expect, test } from 'vitest';
import { dateTime } from '@/text/format';
import { countedTimes } from './alert-sections';

test('times that look the same are one line with a count', () => {
  const [late, early] = ['2026-11-16T12:00:05Z', '2026-11-16T12:00:00Z'];
  expect(countedTimes([late, '2026-11-16T12:00:00.8Z', early], 'utc')).toEqual([
    { at: dateTime(late, 'utc'), count: 1 },
    { at: dateTime(early, 'utc'), count: 2 },
  ]);
});
