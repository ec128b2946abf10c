/** The queries of alerts that were not investigated, and of silences. See queries.ts. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, body } from './client';
import type { Severity, SuppressionReason } from './types';

/** The filter of suppressed alerts, as the server takes it. */
export interface SuppressedFilter {
  reason?: SuppressionReason;
  session_id?: string;
  severity?: Exclude<Severity, ''>;
  search?: string;
}

const pageLength = 50;
/** How often the lists are asked for again: no live message comes for an alert that no session counts. */
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
