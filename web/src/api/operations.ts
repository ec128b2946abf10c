/** Queries and requests of people on call: pauses of all servers, and links that share one session. */
import { queryOptions } from '@tanstack/react-query';
import { api, body } from './client';
import { keys } from './queries';
import type { components } from './schema';

type Schemas = components['schemas'];

export type Pause = Schemas['Pause'];
export type PauseKind = Pause['kind'];
export type BulkCancel = Schemas['BulkCancel'];
export type Share = Schemas['Share'];
export type Shared = Schemas['Shared'];

/** The polling interval of pauses and shared sessions, in milliseconds. */
const refresh = 10_000;

export const pauses = () =>
  queryOptions({
    queryKey: [...keys.system, 'pauses'] as const,
    refetchInterval: refresh,
    queryFn: ({ signal }) => body(api.GET('/api/v1/system/pauses', { signal })),
  });

export const pause = (kind: PauseKind, reason: string, duration: string) =>
  body(
    api.PUT('/api/v1/system/pauses/{kind}', {
      params: { path: { kind } },
      body: { reason: reason.trim() || undefined, duration: duration || undefined },
    }),
  );

export const resume = async (kind: PauseKind): Promise<void> => {
  await api.DELETE('/api/v1/system/pauses/{kind}', { params: { path: { kind } } });
};

export const shares = (id: string) =>
  queryOptions({
    queryKey: [...keys.session(id), 'shares'] as const,
    queryFn: ({ signal }) => body(api.GET('/api/v1/sessions/{id}/shares', { signal, params: { path: { id } } })),
  });

/** Loads one page of the shared session. The secret is in a header, which proxies do not log. */
const sharedPage = (secret: string, cursor: string | undefined, signal: AbortSignal) =>
  body(
    api.GET('/api/v1/shared', {
      signal,
      headers: { Authorization: `Bearer ${secret}` },
      params: { query: { cursor } },
    }),
  );

async function wholeShared(secret: string, signal: AbortSignal): Promise<Shared> {
  const whole = await sharedPage(secret, undefined, signal);
  while (whole.next_cursor) {
    const next: Shared = await sharedPage(secret, whole.next_cursor, signal);
    whole.events.push(...next.events);
    whole.next_cursor = next.next_cursor;
  }
  return whole;
}

/** The shared session with its whole timeline. It is polled while the session runs. */
export const shared = (secret: string) =>
  queryOptions({
    queryKey: ['shared', secret] as const,
    queryFn: ({ signal }) => wholeShared(secret, signal),
    refetchInterval: ({ state }): number | false => (state.data?.session.completed_at === null ? refresh : false),
  });
