/** The filter of the note list in the page's address. */
import type { NoteFilter } from '@/api/notes';
import type { Note } from '@/api/types';

export const statuses = ['queued', 'extracted', 'done', 'failed'] as const satisfies readonly Note['status'][];
export const sources = ['web', 'cli', 'discord', 'session'] as const satisfies readonly Note['source'][];

export interface NotesPageSearch {
  status?: Note['status'];
  source?: Note['source'];
  /** Notes about one session. */
  session?: string;
  q?: string;
}

/** Reads the filter from the page's address; unknown values are ignored. */
export function readNotesSearch(search: Record<string, unknown>): NotesPageSearch {
  const text = (value: unknown) => (typeof value === 'string' && value.trim() !== '' ? value : undefined);
  return {
    status: statuses.find((status) => status === search.status),
    source: sources.find((source) => source === search.source),
    session: text(search.session),
    q: text(search.q),
  };
}

export function filterOf({ session, q, ...rest }: NotesPageSearch): NoteFilter {
  return { ...rest, session_id: session, q: q?.trim() };
}

export function isFiltered(search: NotesPageSearch): boolean {
  return Object.values(search).some((value) => value !== undefined);
}
