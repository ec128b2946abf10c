import { describe, expect, it } from 'vitest';
import { parseSearch } from '@/app/address';
import { filterOf, isFiltered, readAlertsSearch } from './search';
import { silenceState } from './silence-state';

const known = (search: object) => Object.fromEntries(Object.entries(search).filter(([, v]) => v !== undefined));

describe('the address of the Alerts page', () => {
  it('has the tab and filters, and ignores unknown values', () => {
    const read = readAlertsSearch(parseSearch('?reason=storm&severity=high&session=abc&q=disk'));
    expect(known(read)).toEqual({ reason: 'storm', severity: 'high', session: 'abc', q: 'disk' });
    expect(known(filterOf(read))).toEqual({ reason: 'storm', severity: 'high', session_id: 'abc', search: 'disk' });
    expect(known(readAlertsSearch({ tab: 'other', reason: 'mood', severity: 'bad', all: '1' }))).toEqual({});
  });

  it('counts only filters of suppressed alerts', () => {
    expect(isFiltered(readAlertsSearch({ tab: 'silences', all: 'true', silence: 'x' }))).toBe(false);
    expect(isFiltered(readAlertsSearch({ reason: 'silence' }))).toBe(true);
  });
});

describe('a silence', () => {
  const now = new Date('2026-11-16T12:00:00Z');
  const times = { starts_at: '2026-11-16T11:00:00Z', ends_at: '2026-11-16T13:00:00Z', ended_by: '' };

  it('is active between its start and end unless ended early', () => {
    expect(silenceState(times, now).state).toBe('active');
    expect(silenceState({ ...times, starts_at: '2026-11-16T12:30:00Z' }, now).state).toBe('pending');
    expect(silenceState({ ...times, ends_at: '2026-11-16T12:00:00Z' }, now).state).toBe('ended');
    expect(silenceState({ ...times, ended_by: 'ada' }, now).state).toBe('ended');
  });
});
