/** React hooks for the live data of one session. The page has one store per session. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useSyncExternalStore } from 'react';
import * as queries from '@/api/queries';
import { sessionsOf } from './sessions';
import type { EventView, SessionState, SessionStore } from './view';

/** Watches a session while the caller is mounted and a little longer, so that going back shows it immediately. */
export function useSession(sessionId: string): { store: SessionStore; state: SessionState } {
  const sessions = sessionsOf(useQueryClient());
  const store = sessions.session(sessionId);
  useEffect(() => sessions.watch(store), [sessions, store]);
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
