/** What the board shows, as its address carries it. */
import type { EntityFilter } from '@/api/notes';
import type { Entity } from '@/api/types';

const types = ['task', 'decision', 'question', 'risk', 'insight'] as const satisfies readonly Entity['type'][];

/** Spans of due dates, relative to today: a link to what is overdue means overdue when it is opened. */
export const spans = ['overdue', 'today', 'week'] as const;
export type Span = (typeof spans)[number];

export interface BoardPageSearch {
  /** The id of a project, or `none` for what is filed nowhere. */
  project?: string;
  epic?: string;
  /** Left out, tasks; `all` for every type. */
  type?: Entity['type'] | 'all';
  owner?: string;
  tag?: string;
  due?: Span;
  q?: string;
  /** The entity whose dialog is open. */
  entity?: string;
}

/** Reads the page's address; what it does not know it leaves out. */
export function readBoardSearch(search: Record<string, unknown>): BoardPageSearch {
  const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);
  return {
    project: text(search.project),
    epic: text(search.epic),
    type: ([...types, 'all'] as const).find((type) => type === search.type && type !== 'task'),
    owner: text(search.owner),
    tag: text(search.tag),
    due: spans.find((span) => span === search.due),
    q: text(search.q),
    entity: text(search.entity),
  };
}

/** Whether anything narrows the board within its project. */
export function isFiltered({ type, owner, tag, due, q }: BoardPageSearch): boolean {
  return [type, owner, tag, due, q].some((value) => value !== undefined);
}

/** The filter as the server takes it. */
export function filterOf(search: BoardPageSearch, today: Date): EntityFilter {
  const { project, epic, type = 'task', owner, tag, due, q } = search;
  return {
    type: type === 'all' ? undefined : type,
    project_id: project === 'none' ? undefined : project,
    unfiled: project === 'none' ? 'true' : undefined,
    epic_id: epic,
    owner: owner?.trim(),
    tag,
    q: q?.trim(),
    ...(due ? dates(due, today) : {}),
  };
}

function dates(due: Span, today: Date): Pick<EntityFilter, 'due_from' | 'due_to'> {
  switch (due) {
    case 'overdue':
      return { due_to: dayName(today, -1) };
    case 'today':
      return { due_from: dayName(today), due_to: dayName(today) };
    case 'week':
      return { due_from: dayName(today), due_to: dayName(today, 7) };
  }
}

/** A day in the reader's time zone, as YYYY-MM-DD. */
export function dayName(at: Date, later = 0): string {
  const day = new Date(at.getFullYear(), at.getMonth(), at.getDate() + later);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** The address of a file with everything that the board shows. */
export function exportAddress(format: 'csv' | 'json' | 'markdown', filter: EntityFilter): string {
  const query = new URLSearchParams({ format });
  for (const [key, value] of Object.entries(filter)) if (value !== undefined) query.set(key, String(value));
  return `/api/v1/entities/export?${query}`;
}
