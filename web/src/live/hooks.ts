/** React hooks for live data. The page has one socket. */
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useEffectEvent, useSyncExternalStore } from 'react';
import { liveOf } from './live';
import { invalidate } from './notes';
import type { ConnectionState } from './socket';

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
