/** The live data of the page: its socket, and a store for every watched session. */
import type { QueryClient } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import { browser } from './browser';
import type { Clock } from './clock';
import type { ChannelMessage } from './message';
import { followNotes, type Topic } from './notes';
import { createSocket, type Environment, type Socket } from './socket';
import { createSessionStore, type WatchedSession } from './store';
import type { EventView } from './view';

/** How long a session stays watched after its last watcher is gone. */
const linger = 30_000;
/** The shortest time between two reports of a changed session list. */
const feedEvery = 1_000;
/** The same for one session: while it runs, almost every report is about its journal, which its store follows. */
const sessionFeedEvery = 3_000;

export interface Live {
  socket: Socket;
  /** Returns the store of a session; it is idle until watched. */
  session(sessionId: string): WatchedSession;
  /** Keeps the store running until the returned function is called, and a little longer. */
  watch(store: WatchedSession): () => void;
  /** Calls back when the list of sessions may have changed or, with an id, only when that session may have. */
  feed(onChange: () => void, sessionId?: string): () => void;
  /** Calls back with the topics that may have changed. */
  notes(onChange: (changed: ReadonlySet<Topic>) => void): () => void;
}

const pages = new WeakMap<QueryClient, Live>();

/** Returns the live data of the page that the query client belongs to. */
export function liveOf(client: QueryClient): Live {
  const known = pages.get(client);
  if (known !== undefined) return known;
  const made = createLive(client, browser);
  pages.set(client, made);
  return made;
}

interface Entry {
  store: WatchedSession;
  watchers: number;
  cancelDrop: () => void;
}

export function createLive(client: QueryClient, env: Environment): Live {
  const { clock } = env;
  const socket = createSocket(env);
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
    socket,
    session: (sessionId) => entryOf(sessionId, () => storeOf(client, socket, clock, sessionId)).store,
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
    feed: (onChange, sessionId) => followFeed(socket, clock, onChange, sessionId),
    notes: (onChange) => followNotes(socket, clock, onChange),
  };
}

/** Loads through the query client, so that components that need the same data share one response. */
function storeOf(client: QueryClient, socket: Socket, clock: Clock, sessionId: string): WatchedSession {
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

function followFeed(socket: Socket, clock: Clock, onChange: () => void, sessionId?: string): () => void {
  const every = sessionId === undefined ? feedEvery : sessionFeedEvery;
  let cancel: (() => void) | undefined;
  let last = Number.NEGATIVE_INFINITY;
  const changed = () => {
    cancel ??= clock.after(Math.max(0, last + every - clock.now()), () => {
      cancel = undefined;
      last = clock.now();
      onChange();
    });
  };
  const received = (message: ChannelMessage) => {
    if (sessionId === undefined || (message.type === 'session.changed' && message.session_id === sessionId)) changed();
  };
  // Changes before the confirmation were not reported.
  const subscription = socket.subscribe('sessions', { received, confirmed: changed, lost: () => {} });
  return () => {
    cancel?.();
    subscription.end();
  };
}
