/** React hooks for live data. The page has one socket, and one store per session. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import * as queries from '@/api/queries';
import { liveOf } from './live';
import { invalidate } from './notes';
import type { ConnectionState } from './socket';
import type { EventView, SessionState, SessionStore } from './view';

/** Watches a session while the caller is mounted and a little longer, so that going back shows it immediately. */
export function useSession(sessionId: string): { store: SessionStore; state: SessionState } {
  const live = liveOf(useQueryClient());
  const store = live.session(sessionId);
  useEffect(() => live.watch(store), [live, store]);
  return { store, state: useSyncExternalStore(store.subscribe, store.state) };
}

/** Returns one event of a session; re-renders only when that event changes. */
export function useEvent(store: SessionStore, eventId: string): EventView | undefined {
  const subscribe = useCallback((listener: () => void) => store.subscribeEvent(eventId, listener), [store, eventId]);
  return useSyncExternalStore(subscribe, () => store.event(eventId));
}

/**
 * Loads the full event if the view has only its beginning. Not while it streams: the rest arrives anyway, and a
 * response would be outdated before it is shown. `event` is undefined until the full event is loaded.
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

/** Calls back when anything about one session may have changed, even outside its journal; never without an id. */
export function useSessionFeed(sessionId: string | undefined, onChange: () => void): void {
  const live = liveOf(useQueryClient());
  const changed = useEffectEvent(onChange);
  useEffect(() => (sessionId === undefined ? undefined : live.feed(() => changed(), sessionId)), [live, sessionId]);
}

/** Reloads the notes, review items, board and jobs on the page when they change. Only the frame calls it. */
export function useLiveNotes(): void {
  const client = useQueryClient();
  useEffect(() => liveOf(client).notes((changed) => invalidate(client, changed)), [client]);
}

/** The state of the page's socket: `connecting` also if nothing is watched. */
export function useConnection(): ConnectionState {
  const { socket } = liveOf(useQueryClient());
  return useSyncExternalStore(socket.onState, socket.state);
}
