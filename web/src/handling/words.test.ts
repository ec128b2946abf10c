import { describe, expect, test } from 'vitest';
import { doneBy, handlingWord, tagChange, unhandled, withTag } from './words';

describe('tags', () => {
  test('are trimmed, sorted and unique regardless of case', () => {
    expect(withTag(['capacity', 'Disk'], ' alpha ')).toEqual(['alpha', 'capacity', 'Disk']);
    expect(withTag(['Disk'], 'DISK')).toEqual(['Disk']);
    expect(withTag(['Disk'], '  ')).toEqual(['Disk']);
  });

  test('are changed by additions and removals, not replaced', () => {
    expect(tagChange(['a', 'B'], ['b', 'c'])).toEqual({ add: ['c'], remove: ['a'] });
    expect(tagChange(['a'], ['a'])).toEqual({ add: [], remove: [] });
  });
});

test('doneBy returns who set the current state', () => {
  const handling = unhandled('s1');
  expect(doneBy(handling)).toBeUndefined();
  const acknowledged = {
    ...handling,
    state: 'acknowledged',
    acknowledged_by: 'ana',
    acknowledged_at: '2030-01-01T00:00:00Z',
  } as const;
  expect(doneBy(acknowledged)).toEqual({ by: 'ana', at: '2030-01-01T00:00:00Z' });
  expect(
    doneBy({ ...acknowledged, state: 'resolved', resolved_by: 'bob', resolved_at: '2030-01-02T00:00:00Z' }),
  ).toEqual({ by: 'bob', at: '2030-01-02T00:00:00Z' });
});

test('an unknown state is shown as is', () => {
  expect(handlingWord('acknowledged')).toBe('Acknowledged');
  expect(handlingWord('parked')).toBe('parked');
});
