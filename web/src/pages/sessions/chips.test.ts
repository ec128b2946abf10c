import { describe, expect, it } from 'vitest';
import { chipsOf } from './chips';
import { readSessionSearch, type SessionsPageSearch } from './search';
import { isView, views } from './views';

/** An address with every filter. */
const all: Record<string, string> = {
  status: 'failed,completed',
  outcome: 'needs_human',
  alert_type: 'pod-crash',
  chain_id: 'plain',
  author: 'ana',
  severity: 'critical',
  service: 'checkout',
  namespace: 'shop',
  cluster: 'prod',
  team: 'money',
  fingerprint: '0123456789abcdef',
  label: 'a=1,b=2',
  handling: 'open',
  assignee: 'me',
  tag: 'network',
  approvals: 'waiting',
  after: '2026-11-15T00:00:00Z',
  before: '2026-11-16T00:00:00Z',
};

/** Removes a chip's filter from an address. */
const without = (search: SessionsPageSearch, part: SessionsPageSearch) =>
  readSessionSearch({ ...search, ...part } as Record<string, unknown>);

describe('the chips of the filters', () => {
  it('name every filter, and removing all of them leaves none', () => {
    let search = readSessionSearch(all);
    expect(
      chipsOf(search, 'utc')
        .map(({ kind }) => kind)
        .sort(),
    ).toEqual([...Object.keys(all), 'label'].sort());
    for (let chips = chipsOf(search, 'utc'); chips.length > 0; chips = chipsOf(search, 'utc')) {
      search = without(search, chips[0]?.without ?? {});
      expect(chipsOf(search, 'utc')).toHaveLength(chips.length - 1);
    }
    expect(Object.values(search).filter((value) => value !== undefined)).toEqual([]);
  });

  it('say the values in words', () => {
    const labels = (search: Record<string, string>) =>
      chipsOf(readSessionSearch(search), 'utc').map(({ label }) => label);
    expect(labels({ status: 'failed,completed', assignee: 'me', label: 'a=1,b=2', range: '7d' })).toEqual([
      'Status: Failed, Completed',
      'Assignee: Me',
      'a=1',
      'b=2',
      'Last 7 days',
    ]);
    expect(labels({ search: 'disk', order: 'newest' })).toEqual([]);
  });
});

describe('a view', () => {
  it('survives the address, and differs from every other view', () => {
    for (const { filter } of views) {
      const read = readSessionSearch(filter as Record<string, unknown>);
      expect(views.filter((other) => isView({ ...read, order: 'newest' }, other.filter))).toHaveLength(1);
      expect(isView({ ...read, service: 'checkout' }, filter)).toBe(false);
    }
    expect(views.some(({ filter }) => isView({}, filter))).toBe(false);
  });
});
