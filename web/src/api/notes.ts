/** Queries for notes, review, the board and background jobs. See queries.ts. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, body } from './client';
import type { Entity, Job, Note, ReviewItem } from './types';

/** The server's filter for the list of notes. */
export interface NoteFilter {
  status?: Note['status'];
  source?: Note['source'];
  session_id?: string;
  q?: string;
}

export interface ReviewFilter {
  kind?: ReviewItem['kind'];
  project_id?: string;
}

export interface EntityFilter {
  type?: Entity['type'];
  project_id?: string;
  epic_id?: string;
  unfiled?: 'true';
  owner?: string;
  tag?: string;
  due_from?: string;
  due_to?: string;
  q?: string;
}

export interface JobFilter {
  queue?: string;
  state?: Job['state'];
}

const pageLength = 50;
/** The polling interval of items still being processed, where no live message reports progress. */
const refresh = 10_000;

export const keys = {
  notes: ['notes'] as const,
  entities: ['entities'] as const,
  projects: ['projects'] as const,
  tags: ['tags'] as const,
  review: ['review'] as const,
  jobs: ['jobs'] as const,
};

/** Returns the header that names the version of a row that a change is based on. */
export function ifMatch(version: number): { 'If-Match': string } {
  return { 'If-Match': `"${version}"` };
}

export const notes = (filter: NoteFilter) =>
  infiniteQueryOptions({
    queryKey: [...keys.notes, 'list', filter] as const,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      body(
        api.GET('/api/v1/notes', {
          signal,
          params: { query: { ...filter, limit: pageLength, cursor: pageParam || undefined } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor || undefined,
    refetchInterval: ({ state }) => (state.data?.pages.some((page) => page.notes.some(isProcessing)) ? refresh : false),
  });

/** Reports whether the pipeline will still change the note. */
export function isProcessing(note: Pick<Note, 'status'>): boolean {
  return note.status === 'queued' || note.status === 'extracted';
}

export const note = (id: string) =>
  queryOptions({
    queryKey: [...keys.notes, 'detail', id] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/notes/{id}', { signal, params: { path: { id } } })),
    refetchInterval: ({ state }) => (state.data && isProcessing(state.data) ? refresh : false),
  });

/** The entities of one column of the board. */
export const column = (status: Entity['status'], filter: EntityFilter) =>
  infiniteQueryOptions({
    queryKey: [...keys.entities, 'column', status, filter] as const,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      body(
        api.GET('/api/v1/entities', {
          signal,
          params: {
            query: {
              ...filter,
              status,
              state: 'accepted',
              order: 'board',
              limit: pageLength,
              cursor: pageParam || undefined,
            },
          },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor || undefined,
  });

export const entity = (id: string) =>
  queryOptions({
    queryKey: [...keys.entities, 'detail', id] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/entities/{id}', { signal, params: { path: { id } } })),
  });

/** The accepted entities of a session. */
export const sessionEntities = (sessionId: string) =>
  queryOptions({
    queryKey: [...keys.entities, 'session', sessionId] as const,
    queryFn: ({ signal }) =>
      body(
        api.GET('/api/v1/entities', {
          signal,
          params: { query: { session_id: sessionId, state: 'accepted', limit: pageLength } },
        }),
      ),
  });

export const projects = () =>
  queryOptions({
    queryKey: [...keys.projects, 'list'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/projects', { signal, params: { query: {} } })),
  });

export const tags = () =>
  queryOptions({
    queryKey: [...keys.tags, 'list'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/tags', { signal, params: { query: {} } })),
  });

/** Open review items, oldest first. */
export const openReviews = (filter: ReviewFilter) =>
  infiniteQueryOptions({
    queryKey: [...keys.review, 'open', filter] as const,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      body(
        api.GET('/api/v1/review', {
          signal,
          params: { query: { ...filter, status: 'open', limit: pageLength, cursor: pageParam || undefined } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor || undefined,
  });

export const reviewItem = (id: string) =>
  queryOptions({
    queryKey: [...keys.review, 'detail', id] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/review/{id}', { signal, params: { path: { id } } })),
  });

/** The latest decisions, for undo. */
export const decidedReviews = () =>
  queryOptions({
    queryKey: [...keys.review, 'decided'] as const,
    queryFn: ({ signal }) =>
      body(
        api.GET('/api/v1/review', {
          signal,
          params: { query: { status: 'accepted,edited,rejected,merged', limit: 20 } },
        }),
      ),
  });

/** The number of open review items, shown in the navigation. */
export const reviewCount = () =>
  queryOptions({
    queryKey: [...keys.review, 'count'] as const,
    staleTime: 30_000,
    refetchInterval: 60_000,
    queryFn: ({ signal }) =>
      body(api.GET('/api/v1/review', { signal, params: { query: { status: 'open', limit: 1 } } })),
    select: (page) => page.open_count,
  });

/** The queues and the jobs, newest first. */
export const jobs = (filter: JobFilter) =>
  infiniteQueryOptions({
    queryKey: [...keys.jobs, 'list', filter] as const,
    refetchInterval: refresh,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      body(
        api.GET('/api/v1/jobs', {
          signal,
          params: { query: { ...filter, limit: pageLength, cursor: pageParam || undefined } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor || undefined,
  });
