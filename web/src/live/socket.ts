/**
 * The one WebSocket of the page. It is open while a channel has subscribers and reconnects automatically. It knows
 * channels and positions, but not what the messages mean.
 */
import type { Clock } from './clock';
import { type ChannelMessage, type Command, type ConnectionMessage, parseMessage } from './message';

/** `connecting` also covers a page that watches nothing; `lost` lasts until a connection is open again. */
export type ConnectionState = 'connecting' | 'open' | 'lost';

/** A WebSocket connection, as provided by the browser. */
export interface Wire {
  send(text: string): void;
  close(): void;
}

export interface WireEvents {
  opened(): void;
  received(text: string): void;
  closed(code?: number): void;
}

/** The environment of the page; tests inject their own. */
export interface Environment {
  clock: Clock;
  /** Returns a number in [0, 1). */
  random(): number;
  connect(events: WireEvents): Wire;
  /** Called when the server has closed the connection because the login is no longer valid. */
  loggedOut(): void;
  /**
   * Called after an attempt that never opened. Browsers do not report a rejection with status 401, so the page has to
   * check whether the login is still valid.
   */
  checkLogin(): void;
  /**
   * Calls back when the connection should be tried or checked immediately: the network is back or gone, or the page is
   * visible again.
   */
  onWake(listener: () => void): () => void;
}

/** A subscriber of a channel. */
export interface Subscriber {
  /**
   * The number of the last journal event that the subscriber has; read for every command that carries it. Undefined
   * before the first.
   */
  position?(): number | undefined;
  received(message: ChannelMessage): void;
  /** The server has confirmed the subscription; missed messages follow. */
  confirmed(): void;
  /** No messages arrive until the next confirmation. */
  lost(): void;
  /** The server refused the subscription. */
  refused?(code: string): void;
}

export interface Subscription {
  /** Requests everything after the subscriber's position again. */
  catchUp(): void;
  end(): void;
}

export interface Socket {
  state(): ConnectionState;
  onState(listener: () => void): () => void;
  subscribe(channel: string, subscriber: Subscriber): Subscription;
}

/** The close code of a connection whose API key or browser session is no longer valid. */
const loggedOutCode = 4401;

const firstDelay = 300;
const longestDelay = 10_000;
const pingEvery = 20_000;
/** How long a ping may stay unanswered and a connection may take to open. */
const patience = 10_000;
/** The same after a wake-up, when somebody may be looking at the page. */
const wakePatience = 3_000;
/** How long an unused connection stays open: a page change must not open a new one. */
const linger = 1_000;

interface Channel {
  subscribers: Set<Subscriber>;
  confirmed: boolean;
}

export function createSocket(env: Environment): Socket {
  const { clock } = env;
  const channels = new Map<string, Channel>();
  const listeners = new Set<() => void>();
  let state: ConnectionState = 'connecting';
  let wire: Wire | undefined;
  let open = false;
  let failures = 0;
  let cancelRetry: (() => void) | undefined;
  let cancelPing: (() => void) | undefined;
  let cancelTimeout: (() => void) | undefined;
  let cancelLinger: (() => void) | undefined;
  let stopWaking: (() => void) | undefined;

  function setState(next: ConnectionState) {
    if (state === next) return;
    state = next;
    for (const listener of [...listeners]) listener();
  }

  function send(command: Command) {
    if (open) wire?.send(JSON.stringify(command));
  }

  function connect() {
    cancelRetry?.();
    cancelRetry = undefined;
    if (wire !== undefined) return;
    // An abandoned wire may still report events; only the current one counts.
    const mine = env.connect({
      opened: () => wire === mine && opened(),
      received: (text) => wire === mine && received(text),
      closed: (code) => wire === mine && closed(code),
    });
    wire = mine;
    startTimeout(patience);
  }

  function closed(code: number | undefined) {
    if (code === loggedOutCode) return loggedOut();
    if (!open) env.checkLogin();
    lost();
  }

  function opened() {
    open = true;
    stopTimeout();
    setState('open');
    for (const channel of channels.keys()) ask(channel);
    schedulePing();
  }

  function received(text: string) {
    stopTimeout();
    const message = parseMessage(text);
    if (message !== undefined) deliver(message);
  }

  function deliver(message: ChannelMessage | ConnectionMessage) {
    if (message.type === 'connection.established') failures = 0;
    if (!('channel' in message) || message.channel === undefined) return;
    const channel = channels.get(message.channel);
    if (channel === undefined) return;
    for (const subscriber of [...channel.subscribers]) {
      switch (message.type) {
        case 'subscription.confirmed':
          channel.confirmed = true;
          subscriber.confirmed();
          break;
        case 'subscription.removed':
          break;
        case 'error':
          subscriber.refused?.(message.code);
          break;
        default:
          subscriber.received(message);
      }
    }
  }

  function lost() {
    drop();
    if (channels.size === 0) return;
    const delay = Math.min(longestDelay, firstDelay * 2 ** failures) * (0.5 + env.random() / 2);
    failures++;
    cancelRetry = clock.after(delay, connect);
  }

  /** Without a valid login, every further attempt would be rejected. */
  function loggedOut() {
    drop();
    env.loggedOut();
  }

  function drop() {
    hangUp();
    setState('lost');
    for (const channel of channels.values()) {
      channel.confirmed = false;
      for (const subscriber of [...channel.subscribers]) subscriber.lost();
    }
  }

  /** Closes the connection without notifying subscribers. */
  function hangUp() {
    const old = wire;
    wire = undefined;
    open = false;
    stopTimeout();
    cancelPing?.();
    cancelPing = undefined;
    old?.close();
  }

  function stopTimeout() {
    cancelTimeout?.();
    cancelTimeout = undefined;
  }

  function startTimeout(ms: number) {
    stopTimeout();
    cancelTimeout = clock.after(ms, lost);
  }

  function schedulePing() {
    cancelPing?.();
    cancelPing = clock.after(pingEvery, () => {
      ping(patience);
      schedulePing();
    });
  }

  function ping(wait: number) {
    startTimeout(wait);
    send({ action: 'ping' });
  }

  function wake() {
    if (open) ping(wakePatience);
    else if (cancelRetry !== undefined) connect();
  }

  /** Subscribes from the lowest position of all subscribers. */
  function ask(name: string) {
    const position = lowest(channels.get(name));
    send({ action: 'subscribe', channel: name, ...(position === undefined ? {} : { last_event_id: position }) });
  }

  function subscribe(name: string, subscriber: Subscriber): Subscription {
    cancelLinger?.();
    cancelLinger = undefined;
    stopWaking ??= env.onWake(wake);
    let channel = channels.get(name);
    if (channel === undefined) {
      channel = { subscribers: new Set([subscriber]), confirmed: false };
      channels.set(name, channel);
      ask(name);
    } else {
      channel.subscribers.add(subscriber);
      join(name, channel, subscriber);
    }
    if (wire === undefined && cancelRetry === undefined) connect();
    return {
      catchUp: () => catchUp(name, subscriber),
      end: () => end(name, subscriber),
    };
  }

  /** Adds a subscriber to a channel that already has some. */
  function join(name: string, channel: Channel, subscriber: Subscriber) {
    if (!channel.confirmed) {
      ask(name);
      return;
    }
    subscriber.confirmed();
    catchUp(name, subscriber);
  }

  function catchUp(name: string, subscriber: Subscriber) {
    const position = subscriber.position?.();
    if (position !== undefined) send({ action: 'catchup', channel: name, last_event_id: position });
  }

  function end(name: string, subscriber: Subscriber) {
    const channel = channels.get(name);
    if (!channel?.subscribers.delete(subscriber) || channel.subscribers.size > 0) return;
    channels.delete(name);
    send({ action: 'unsubscribe', channel: name });
    if (channels.size > 0) return;
    cancelLinger?.();
    cancelLinger = clock.after(linger, retire);
  }

  function retire() {
    cancelLinger = undefined;
    cancelRetry?.();
    cancelRetry = undefined;
    stopWaking?.();
    stopWaking = undefined;
    hangUp();
    failures = 0;
    setState('connecting');
  }

  return {
    state: () => state,
    onState(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    subscribe,
  };
}

function lowest(channel: Channel | undefined): number | undefined {
  const positions = [...(channel?.subscribers ?? [])].flatMap((subscriber) => subscriber.position?.() ?? []);
  return positions.length === 0 ? undefined : Math.min(...positions);
}
