/** A store for every watched session. Only pages that show a session load this code. */
import type { QueryClient } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import { type Live, liveOf } from './live';
import { createSessionStore, type WatchedSession } from './store';
import type { EventView } from './view';

/** How long a session stays watched after its last watcher is gone. */
const linger = 30_000;

export interface Sessions {
  /** Returns the store of a session; it is idle until watched. */
  session(sessionId: string): WatchedSession;
  /** Keeps the store running until the returned function is called, and a little longer. */
  watch(store: WatchedSession): () => void;
}

const pages = new WeakMap<QueryClient, Sessions>();

/** Returns the watched sessions of the page that the query client belongs to. */
export function sessionsOf(client: QueryClient): Sessions {
  const known = pages.get(client);
  if (known !== undefined) return known;
  const made = createSessions(client, liveOf(client));
  pages.set(client, made);
  return made;
}

interface Entry {
  store: WatchedSession;
  watchers: number;
  cancelDrop: () => void;
}

export function createSessions(client: QueryClient, live: Live): Sessions {
  const { clock } = live;
  const entries = new Map<string, Entry>();

  function dropLater(entry: Entry) {
    entry.cancelDrop();
    entry.cancelDrop = clock.after(linger, () => {
      entry.store.stop();
      if (entries.get(entry.store.sessionId) === entry) entries.delete(entry.store.sessionId);
    });
  }

  function entryOf(sessionId: string, make: () => WatchedSession): Entry {
    const known = entries.get(sessionId);
    if (known !== undefined) return known;
    const made: Entry = { store: make(), watchers: 0, cancelDrop: () => {} };
    entries.set(sessionId, made);
    dropLater(made);
    return made;
  }

  return {
    session: (sessionId) => entryOf(sessionId, () => storeOf(client, live, sessionId)).store,
    watch(store) {
      // The store may have been dropped since the caller rendered.
      const entry = entryOf(store.sessionId, () => store);
      entry.cancelDrop();
      entry.watchers++;
      entry.store.start();
      return () => {
        entry.watchers--;
        if (entry.watchers === 0) dropLater(entry);
      };
    },
  };
}

/** Loads through the query client, so that components that need the same data share one response. */
function storeOf(client: QueryClient, { socket, clock }: Live, sessionId: string): WatchedSession {
  const keyOf = (eventId: string) => queries.timelineEvent(sessionId, eventId).queryKey;
  return createSessionStore({
    sessionId,
    socket,
    clock,
    previewLength: queries.previewLength,
    detail: () => client.fetchQuery({ ...queries.session(sessionId), staleTime: 0 }),
    // The store keeps the events, so the cache needs no second copy.
    timeline: () => client.fetchQuery({ ...queries.timeline(sessionId), staleTime: 0, gcTime: 0 }),
    event: (eventId) => client.fetchQuery({ ...queries.timelineEvent(sessionId, eventId), staleTime: 0 }),
    completed(event: EventView, cut: boolean) {
      // An open row shows the full event, which has just arrived, so it need not be requested.
      if (cut) client.setQueryData(keyOf(event.id), event);
      else void client.invalidateQueries({ queryKey: keyOf(event.id), exact: true });
    },
  });
}
