import { describe, expect, test } from 'vitest';
import { doneBy, handlingWord, tagChange, unhandled, withTag } from './words';

describe('tags', () => {
  test('are trimmed, sorted and unique whatever their case', () => {
    expect(withTag(['capacity', 'Disk'], ' alpha ')).toEqual(['alpha', 'capacity', 'Disk']);
    expect(withTag(['Disk'], 'DISK')).toEqual(['Disk']);
    expect(withTag(['Disk'], '  ')).toEqual(['Disk']);
  });

  test('are changed by what was added and removed, so that changes of others stay', () => {
    expect(tagChange(['a', 'B'], ['b', 'c'])).toEqual({ add: ['c'], remove: ['a'] });
    expect(tagChange(['a'], ['a'])).toEqual({ add: [], remove: [] });
  });
});

test('who did it is the one who brought the session into its state', () => {
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

test('a state of a newer server is shown as it is', () => {
  expect(handlingWord('acknowledged')).toBe('Acknowledged');
  expect(handlingWord('parked')).toBe('parked');
});
