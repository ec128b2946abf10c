/** The live data of the page: its socket, and what it reports. sessions.ts has the sessions, which few pages show. */
import type { QueryClient } from '@tanstack/react-query';
import { browser } from './browser';
import type { Clock } from './clock';
import type { ChannelMessage } from './message';
import { followNotes, type Topic } from './notes';
import { createSocket, type Environment, type Socket } from './socket';

/** The shortest time between two reports of a changed session list. */
const feedEvery = 1_000;
/** The same for one session: while it runs, almost every report is about its journal, which its store follows. */
const sessionFeedEvery = 3_000;

export interface Live {
  socket: Socket;
  clock: Clock;
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
  const made = createLive(browser);
  pages.set(client, made);
  return made;
}

export function createLive(env: Environment): Live {
  const { clock } = env;
  const socket = createSocket(env);
  return {
    socket,
    clock,
    feed: (onChange, sessionId) => followFeed(socket, clock, onChange, sessionId),
    notes: (onChange) => followNotes(socket, clock, onChange),
  };
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
