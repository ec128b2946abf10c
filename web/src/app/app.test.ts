import { describe, expect, it } from 'vitest';
import { isUnreachable } from '@/api/problem';
import { parseSearch, stringifySearch } from './address';
import { type Choice, matching } from './choice';
import { explainMissing, MissingPart } from './failure';
import { groups } from './help';
import { entryOf, navigation } from './navigation';
import { Registry } from './registry';
import { sessionIdIn } from './sessionid';

const id = '019a7b3c-1f2e-7abc-8def-0123456789ab';

describe('a session id in pasted text', () => {
  it.each([id, ` ${id}\n`, id.toUpperCase(), `http://127.0.0.1:8080/sessions/${id}/trace?call=1`, `/sessions/${id}`])(
    'is found in %s',
    (text) => {
      expect(sessionIdIn(text)).toBe(id);
    },
  );

  it.each(['', 'pod 019a7b3c', `alert ${id} failed`, 'disk full'])('is not in %s', (text) => {
    expect(sessionIdIn(text)).toBe('');
  });
});

describe('the palette', () => {
  const choices: Choice[] = [
    { id: '1', label: 'Cancel session', keywords: ['stop'], run: () => {} },
    { id: '2', label: 'Copy link', run: () => {} },
  ];
  const found = (typed: string) => matching(choices, typed).map((choice) => choice.id);

  it('matches all typed words, in any order, in labels and keywords', () => {
    expect(found('session can')).toEqual(['1']);
    expect(found('STOP')).toEqual(['1']);
    expect(found('copy session')).toEqual([]);
    expect(found('  ')).toEqual(['1', '2']);
  });
});

describe('search parameters', () => {
  it('are readable plain text', () => {
    expect(stringifySearch({ status: ['failed', 'timed_out'], search: 'a b', chat: true, author: undefined })).toBe(
      '?status=failed,timed_out&search=a+b&chat=true',
    );
    expect(stringifySearch({})).toBe('');
    expect(parseSearch('?chat=true&n=1')).toEqual({ chat: 'true', n: '1' });
  });
});

describe('the navigation', () => {
  it('finds the page of every address', () => {
    const label = (pathname: string, search = {}) => entryOf(pathname, search)?.label;
    expect(label('/')).toBe('Sessions');
    expect(label('/', { severity: 'high' })).toBe('Sessions');
    expect(label('/', { approvals: 'waiting' })).toBe('Sessions');
    expect(label('/approvals', { show: 'decided' })).toBe('Approvals');
    expect(label(`/sessions/${id}/trace`)).toBe('Sessions');
    expect(label('/alerts', { tab: 'silences' })).toBe('Not investigated');
    expect(label('/system')).toBe('Health');
    expect(label('/system/audit', { action: 'key.create' })).toBe('Audit');
    expect(label('/system', { tab: 'jobs', queue: 'notes' })).toBe('Jobs');
    expect(label('/system', { tab: 'usage' })).toBe('Usage');
    expect(label('/nowhere')).toBeUndefined();
  });

  it('finds its own address for every entry', () => {
    for (const entry of navigation) expect(entryOf(entry.to, entry.search ?? {})).toBe(entry);
  });

  it('has a unique key for every page', () => {
    expect(new Set(navigation.map((entry) => entry.key)).size).toBe(navigation.length);
  });
});

describe('a part of the dashboard that cannot be loaded', () => {
  const failure = new TypeError('Failed to fetch dynamically imported module: http://x/assets/page-1.js');

  it('is reported as missing if the server responds', async () => {
    await expect(explainMissing(failure, async () => {})).rejects.toBeInstanceOf(MissingPart);
  });

  it('is reported as unreachable if the server does not respond', async () => {
    const away = explainMissing(failure, () => Promise.reject(new TypeError('Failed to fetch')));
    await expect(away).rejects.toSatisfy(isUnreachable);
  });

  it('is not confused with a TypeError in the code', () => {
    expect(isUnreachable(new TypeError("Cannot read properties of undefined (reading 'id')"))).toBe(false);
  });
});

describe('the registry of page parts', () => {
  it('lists the latest part first, and forgets a removed part', () => {
    const registry = new Registry<string>();
    const [frame, page] = [{}, {}];
    registry.put(frame, ['a']);
    registry.put(page, ['b']);
    registry.put(frame, ['a2']);
    expect(registry.snapshot()).toEqual(['b', 'a2']);
    expect(registry.snapshot()).toBe(registry.snapshot());
    registry.remove(page);
    expect(registry.snapshot()).toEqual(['a2']);
  });

  it('is shown in the help once per key, by group', () => {
    const offer = (keys: string, group: string) => ({ keys, group, label: keys, run: () => {} });
    const shown = groups([offer('j', 'List'), offer('?', 'All'), offer('j', 'All')]);
    expect(shown.map(([group, members]) => [group, members.map((m) => m.keys)])).toEqual([
      ['List', ['j']],
      ['All', ['?']],
    ]);
  });
});
