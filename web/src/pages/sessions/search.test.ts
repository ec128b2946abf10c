import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { severities } from '@/alert/severities';
import { parseSearch, stringifySearch } from '@/app/address';
import { filterOf, isFiltered, readSessionSearch, type SessionsPageSearch, statuses } from './search';

const known = (search: SessionsPageSearch) =>
  Object.fromEntries(Object.entries(search).filter(([, v]) => v !== undefined));

describe('the filter in the address', () => {
  it('is read from plain text, statuses separated by commas', () => {
    const read = readSessionSearch(
      parseSearch('?status=failed,timed_out&alert_type=pod-oom&search=disk%20full&range=24h&order=newest'),
    );
    expect(known(read)).toEqual({
      status: ['failed', 'timed_out'],
      alert_type: 'pod-oom',
      search: 'disk full',
      range: '24h',
      order: 'newest',
    });
  });

  it('ignores unknown values', () => {
    const read = readSessionSearch({
      status: 'failed,sleeping',
      range: '3y',
      order: 'worst',
      after: 'yesterday',
      author: ' ',
      x: '1',
    });
    expect(known(read)).toEqual({ status: ['failed'] });
    expect(known(readSessionSearch({ status: 'sleeping', search: 7, chain_id: { a: 1 } }))).toEqual({});
  });

  it('has facts and labels of the alert', () => {
    const read = readSessionSearch(
      parseSearch('?severity=critical&service=web&team=shop&fingerprint=sender:42&label=app=web,tier=a%5C,b'),
    );
    expect(known(read)).toEqual({
      severity: 'critical',
      service: 'web',
      team: 'shop',
      fingerprint: 'sender:42',
      label: 'app=web,tier=a\\,b',
    });
    expect(filterOf(read, new Date()).label).toEqual(['app=web', 'tier=a,b']);
    expect(known(readSessionSearch({ severity: 'terrible', label: 'nonsense' }))).toEqual({});
  });

  it('has outcomes separated by commas', () => {
    const read = readSessionSearch(parseSearch('?outcome=false_alarm,strange,cause_found'));
    expect(read.outcome?.toSorted()).toEqual(['cause_found', 'false_alarm']);
    expect(readSessionSearch({ outcome: 'strange' }).outcome).toBeUndefined();
    expect(isFiltered(read)).toBe(true);
  });

  it('has handling state, assignee and tag', () => {
    const read = readSessionSearch(parseSearch('?handling=resolved,parked,open&assignee=me&tag=needs%20review'));
    expect(known(read)).toEqual({ handling: ['open', 'resolved'], assignee: 'me', tag: 'needs review' });
    expect(filterOf(read, new Date())).toMatchObject({
      handling: ['open', 'resolved'],
      assignee: 'me',
      tag: ['needs review'],
    });
    expect(isFiltered(read)).toBe(true);
    expect(known(readSessionSearch({ handling: 'parked', assignee: ' ', tag: 7 }))).toEqual({});
  });

  it('has whether approval is needed, and passes it to the server', () => {
    const read = readSessionSearch(parseSearch('?approvals=waiting'));
    expect(known(read)).toEqual({ approvals: 'waiting' });
    expect(isFiltered(read)).toBe(true);
    expect(filterOf(read, new Date()).approvals).toBe('waiting');
    expect(known(readSessionSearch({ approvals: 'all' }))).toEqual({});
  });

  it('keeps text that looks like a number or like JSON as text', () => {
    expect(readSessionSearch(parseSearch('?search=404')).search).toBe('404');
    expect(readSessionSearch(parseSearch('?search=[1]')).search).toBe('[1]');
  });

  it('drops dates if there is also a range', () => {
    const read = readSessionSearch({ range: '1h', after: '2026-01-01T00:00:00Z' });
    expect(known(read)).toEqual({ range: '1h' });
  });

  it('survives a round trip', () => {
    const text = fc.option(
      fc.string({ unit: 'grapheme', minLength: 1 }).filter((s) => s.trim() !== ''),
      { nil: undefined },
    );
    const time = fc.option(
      fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map((at) => at.toISOString()),
      { nil: undefined },
    );
    const search: fc.Arbitrary<SessionsPageSearch> = fc.record({
      status: fc.option(fc.subarray([...statuses], { minLength: 1 }), { nil: undefined }),
      alert_type: text,
      chain_id: text,
      author: text,
      severity: fc.constantFrom(...severities, undefined),
      service: text,
      namespace: text,
      cluster: text,
      team: text,
      search: text,
      approvals: fc.constantFrom('waiting' as const, undefined),
      after: time,
      before: time,
      order: fc.constantFrom('newest' as const, undefined),
    });
    fc.assert(
      fc.property(search, (wanted) => {
        expect(known(readSessionSearch(parseSearch(stringifySearch({ ...wanted }))))).toEqual(known(wanted));
      }),
    );
  });

  it('counts everything that narrows the list, but not the order', () => {
    expect(isFiltered(readSessionSearch({ order: 'newest' }))).toBe(false);
    expect(isFiltered(readSessionSearch({ range: '7d' }))).toBe(true);
    expect(isFiltered(readSessionSearch({ search: 'x' }))).toBe(true);
  });
});

describe('the request to the server', () => {
  const now = new Date('2026-03-01T12:34:56.789Z');

  it('rounds the start of a range, so that it stays the same for a while', () => {
    const at = (ms: number) => filterOf({ range: '1h' }, new Date(now.getTime() + ms)).created_after;
    expect(at(0)).toBe('2026-03-01T11:34:00.000Z');
    expect(at(3000)).toBe(at(0));
    expect(at(4000)).toBe('2026-03-01T11:35:00.000Z');
  });

  it('orders by attention unless newest first is chosen', () => {
    expect(filterOf({}, now).order).toBe('attention');
    expect(filterOf({ order: 'newest' }, now).order).toBe('newest');
  });

  it('has no parameter that the server does not know', () => {
    expect(known(filterOf(readSessionSearch({ after: '2026-02-01T00:00:00Z' }), now) as SessionsPageSearch)).toEqual({
      created_after: '2026-02-01T00:00:00.000Z',
      order: 'attention',
    });
  });
});
