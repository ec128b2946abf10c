import { describe, expect, it } from 'vitest';
import type { SessionItem } from '@/api/types';
import { rowsOf, settle } from './steady';

const row = (id: string, status: SessionItem['status'] = 'completed') => ({ id, status }) as SessionItem;
const ids = (rows: readonly SessionItem[]) => rows.map((r) => r.id).join('');
const list = (text: string) => [...text].map((id) => row(id));

describe('displayed rows', () => {
  it('keep their places and get their new state', () => {
    const fresh = [row('c', 'failed'), row('a'), row('b')];
    const settled = settle(list('abc'), fresh);
    expect(ids(settled.rows)).toBe('abc');
    expect(settled.rows[2]).toBe(fresh[0]);
    expect(settled).toMatchObject({ news: 0, moved: true });
  });

  it('are not moved by a new session, which is counted', () => {
    expect(settle(list('abc'), list('nabc'))).toMatchObject({ news: 1, moved: false });
    expect(ids(settle(list('abc'), list('nabc')).rows)).toBe('abc');
  });

  it('stay when they are gone, and the list is marked as changed', () => {
    const settled = settle(list('abc'), list('ac'));
    expect(ids(settled.rows)).toBe('abc');
    expect(settled).toMatchObject({ news: 0, moved: true });
  });

  it('are extended by the next page', () => {
    expect(ids(settle(list('abc'), list('abcdef')).rows)).toBe('abcdef');
    expect(settle(list('abc'), list('abcdef'))).toMatchObject({ news: 0, moved: false });
  });

  it('are extended even if new sessions wait above', () => {
    const settled = settle(list('abc'), list('nabcd'));
    expect(ids(settled.rows)).toBe('abcd');
    expect(settled.news).toBe(1);
  });

  it('report no change when nothing changed', () => {
    expect(settle(list('abc'), list('abc'))).toMatchObject({ news: 0, moved: false });
  });
});

it('a session on two pages has one row', () => {
  expect(ids(rowsOf([{ sessions: list('ab') }, { sessions: list('bc') }]))).toBe('abc');
});
