/** Queries for suppressed alerts and silences. See queries.ts. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, body } from './client';
import type { Severity, SuppressionReason } from './types';

/** The server's filter for suppressed alerts. */
export interface SuppressedFilter {
  reason?: SuppressionReason;
  session_id?: string;
  severity?: Exclude<Severity, ''>;
  search?: string;
}

const pageLength = 50;
/** The polling interval of the lists: no live message reports an alert that no session counts. */
const refresh = 10_000;

export const keys = {
  suppressed: ['suppressed'] as const,
  silences: ['silences'] as const,
};

export const suppressed = (filter: SuppressedFilter) =>
  infiniteQueryOptions({
    queryKey: [...keys.suppressed, filter] as const,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) =>
      body(
        api.GET('/api/v1/suppressed', {
          signal,
          params: { query: { ...filter, limit: pageLength, cursor: pageParam || undefined } },
        }),
      ),
    getNextPageParam: (page) => page.next_cursor || undefined,
    refetchInterval: refresh,
  });

export const silences = (all: boolean) =>
  queryOptions({
    queryKey: [...keys.silences, all] as const,
    queryFn: ({ signal }) =>
      body(api.GET('/api/v1/silences', { signal, params: { query: { all: all ? 'true' : undefined } } })),
    refetchInterval: refresh,
  });
