/** How pages read what is live. A page has one socket, and one store for each session. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import * as queries from '@/api/queries';
import { liveOf } from './live';
import { invalidate } from './notes';
import type { ConnectionState } from './socket';
import type { EventView, SessionState, SessionStore } from './view';

/** Watches a session while the caller is mounted, and a little longer: going back to it shows it at once. */
export function useSession(sessionId: string): { store: SessionStore; state: SessionState } {
  const live = liveOf(useQueryClient());
  const store = live.session(sessionId);
  useEffect(() => live.watch(store), [live, store]);
  return { store, state: useSyncExternalStore(store.subscribe, store.state) };
}

/** One event of a session; renders again only when that event changes. */
export function useEvent(store: SessionStore, eventId: string): EventView | undefined {
  const subscribe = useCallback((listener: () => void) => store.subscribeEvent(eventId, listener), [store, eventId]);
  return useSyncExternalStore(subscribe, () => store.event(eventId));
}

/**
 * The whole of an event of which the view has only the beginning; what still streams comes by itself, and an answer now
 * would be old before it is shown. `event` is undefined until the whole is there.
 */
export function useWhole(store: SessionStore, preview: EventView | undefined) {
  const partial = preview?.truncated === true && preview.status !== 'streaming';
  const query = useQuery({ ...queries.timelineEvent(store.sessionId, preview?.id ?? ''), enabled: partial });
  const event = partial ? query.data && { ...preview, ...query.data } : preview;
  return { event, error: partial ? query.error : null, retry: () => void query.refetch() };
}

/** Calls back when the list of sessions may have changed, at most once a second. */
export function useSessionsFeed(onChange: () => void): void {
  const live = liveOf(useQueryClient());
  const changed = useEffectEvent(onChange);
  useEffect(() => live.feed(() => changed()), [live]);
}

/** Calls back when something about one session may have changed, also outside its journal; not if there is no id. */
export function useSessionFeed(sessionId: string | undefined, onChange: () => void): void {
  const live = liveOf(useQueryClient());
  const changed = useEffectEvent(onChange);
  useEffect(() => (sessionId === undefined ? undefined : live.feed(() => changed(), sessionId)), [live, sessionId]);
}

/** Loads again what the page shows of notes, review, board and jobs when it has changed. The frame calls it once. */
export function useLiveNotes(): void {
  const client = useQueryClient();
  useEffect(() => liveOf(client).notes((changed) => invalidate(client, changed)), [client]);
}

/** The state of the one socket of the page. Nothing to watch counts as connecting. */
export function useConnection(): ConnectionState {
  const { socket } = liveOf(useQueryClient());
  return useSyncExternalStore(socket.onState, socket.state);
}
