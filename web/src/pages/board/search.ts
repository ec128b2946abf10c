/** The state of the board in its address. */
import type { EntityFilter } from '@/api/notes';
import type { Entity } from '@/api/types';

const types = ['task', 'decision', 'question', 'risk', 'insight'] as const satisfies readonly Entity['type'][];

/** Ranges of due dates, relative to today: a link to overdue entities shows those overdue when it is opened. */
export const spans = ['overdue', 'today', 'week'] as const;
export type Span = (typeof spans)[number];

export interface BoardPageSearch {
  /** The id of a project, or `none` for unfiled entities. */
  project?: string;
  epic?: string;
  /** Defaults to task; `all` for every type. */
  type?: Entity['type'] | 'all';
  owner?: string;
  tag?: string;
  due?: Span;
  q?: string;
  /** The entity whose dialog is open. */
  entity?: string;
}

/** Reads the state from the page's address; unknown values are ignored. */
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

/** Reports whether any filter applies within the project. */
export function isFiltered({ type, owner, tag, due, q }: BoardPageSearch): boolean {
  return [type, owner, tag, due, q].some((value) => value !== undefined);
}

/** Returns the server's filter for the state. */
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

/** Returns a day in the reader's time zone as YYYY-MM-DD. */
export function dayName(at: Date, later = 0): string {
  const day = new Date(at.getFullYear(), at.getMonth(), at.getDate() + later);
  const two = (n: number) => String(n).padStart(2, '0');
  return `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
}

/** Returns the download address of everything that the board shows. */
export function exportAddress(format: 'csv' | 'json' | 'markdown', filter: EntityFilter): string {
  const query = new URLSearchParams({ format });
  for (const [key, value] of Object.entries(filter)) if (value !== undefined) query.set(key, String(value));
  return `/api/v1/entities/export?${query}`;
}
