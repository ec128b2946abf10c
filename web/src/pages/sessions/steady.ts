/**
 * Keeps rows in place while someone reads them. A live list that moves under the pointer makes people open the wrong
 * session; so while it is read, rows are updated in place, and new rows and a new order wait until requested.
 */
import { useState } from 'react';
import type { SessionItem } from '@/api/types';

interface Settled {
  rows: readonly SessionItem[];
  /** The number of new sessions not shown yet. */
  news: number;
  /** Whether a refresh would reorder or remove rows. */
  moved: boolean;
}

/** Updates the rows in place. Rows after the last one are appended, because they move nothing. */
export function settle(shown: readonly SessionItem[], fresh: readonly SessionItem[]): Settled {
  const freshById = new Map(fresh.map((row) => [row.id, row]));
  const shownIds = new Set(shown.map((row) => row.id));
  const kept = fresh.filter((row) => shownIds.has(row.id));
  const lastKept = kept.at(-1);
  const tailAt = lastKept === undefined ? 0 : fresh.indexOf(lastKept) + 1;
  const before = shown.filter((row) => freshById.has(row.id));
  return {
    rows: [...shown.map((row) => freshById.get(row.id) ?? row), ...fresh.slice(tailAt)],
    news: fresh.slice(0, tailAt).filter((row) => !shownIds.has(row.id)).length,
    moved: before.length < shown.length || before.some((row, place) => row.id !== kept[place]?.id),
  };
}

/**
 * Returns the rows to show. `key` identifies the query; the response to another query is shown immediately. It is
 * undefined while the rows still belong to the previous query.
 */
export function useSteadyRows(
  fresh: readonly SessionItem[],
  reading: boolean,
  key: string | undefined,
): Settled & { release: () => void } {
  const [held, setHeld] = useState({ key, rows: fresh });
  const same = key === undefined || key === held.key;
  const settled: Settled = reading && same ? settle(held.rows, fresh) : { rows: fresh, news: 0, moved: false };
  if (!same || !equal(settled.rows, held.rows)) setHeld({ key: key ?? held.key, rows: settled.rows });
  return { ...settled, release: () => setHeld((last) => ({ ...last, rows: fresh })) };
}

function equal(a: readonly SessionItem[], b: readonly SessionItem[]): boolean {
  return a.length === b.length && a.every((row, place) => row === b[place]);
}

/**
 * Returns the rows of all loaded pages. A session that moved between requests may be on two pages: the first one wins.
 */
export function rowsOf(pages: readonly { sessions: SessionItem[] }[]): SessionItem[] {
  const byId = new Map<string, SessionItem>();
  for (const row of pages.flatMap((page) => page.sessions)) if (!byId.has(row.id)) byId.set(row.id, row);
  return [...byId.values()];
}
