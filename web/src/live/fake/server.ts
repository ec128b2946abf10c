/** A server as docs/events.md describes it, with connections that a test can cut and REST responses that take time. */
import type { SessionDetail, Timeline } from '@/api/types';
import type { ChunkMessage, Command, JournalMessage } from '../message';
import type { Environment, Wire, WireEvents } from '../socket';
import type { FakeClock } from './clock';
import { detailAt, previewed, sessionId, timelineAt } from './story';

const channel = `session:${sessionId}`;
const replayLimit = 200;

interface Peer {
  events: WireEvents;
  /** Subscribed to the session. */
  subscribed: boolean;
  /** Subscribed to the feed of all sessions. */
  feed: boolean;
}

export class FakeServer {
  readonly commands: Command[] = [];
  readonly asked = { detail: 0, timeline: 0, event: 0 };
  /** How many connections were opened. */
  wires = 0;
  reachable = true;
  /** How long a REST response takes; it contains the state at the time of the request. */
  latency = 0;
  /** Whether the server responds to pings. */
  answers = true;
  version = 0;
  wake: () => void = () => {};
  /** How often the page was notified that its login has ended. */
  loggedOut = 0;
  /** How often the page checked whether its login is still valid. */
  loginChecks = 0;
  private peers: Peer[] = [];
  private readonly texts = new Map<string, { written: string; saved: string; fence: number }>();

  constructor(
    readonly clock: FakeClock,
    readonly journal: readonly JournalMessage[],
    readonly previewLength = 400,
  ) {}

  readonly env: Environment = {
    clock: {
      now: () => this.clock.now(),
      after: (ms, callback) => this.clock.after(ms, callback),
    },
    random: () => 0.5,
    connect: (events) => this.connect(events),
    loggedOut: () => {
      this.loggedOut++;
    },
    checkLogin: () => {
      this.loginChecks++;
    },
    onWake: (listener) => {
      this.wake = listener;
      return () => {
        this.wake = () => {};
      };
    },
  };

  private connect(events: WireEvents): Wire {
    this.wires++;
    const peer: Peer = { events, subscribed: false, feed: false };
    this.clock.after(1, () => {
      if (!this.reachable) return events.closed();
      this.peers.push(peer);
      events.opened();
      events.received(JSON.stringify({ type: 'connection.established', connection_id: 'c' }));
    });
    return {
      send: (text) => this.handle(peer, JSON.parse(text)),
      close: () => {
        this.peers = this.peers.filter((other) => other !== peer);
      },
    };
  }

  private sendTo(peer: Peer, message: object) {
    if (this.peers.includes(peer)) peer.events.received(JSON.stringify(message));
  }

  private handle(peer: Peer, command: Command) {
    this.commands.push(command);
    if (command.action === 'ping') {
      if (this.answers) this.sendTo(peer, { type: 'pong' });
      return;
    }
    if (command.action === 'unsubscribe') {
      if (command.channel === channel) peer.subscribed = false;
      else peer.feed = false;
      this.sendTo(peer, { type: 'subscription.removed', channel: command.channel });
      return;
    }
    const after = command.last_event_id ?? 0;
    if (command.channel !== channel) {
      peer.feed = true;
      this.sendTo(peer, { type: 'subscription.confirmed', channel: command.channel });
      return;
    }
    if (after > this.version) {
      this.sendTo(peer, { type: 'error', code: 'invalid_parameter', message: 'no such event', channel });
      return;
    }
    if (command.action === 'subscribe') this.sendTo(peer, { type: 'subscription.confirmed', channel });
    peer.subscribed = true;
    this.replay(peer, after);
  }

  private replay(peer: Peer, after: number) {
    if (this.version - after > replayLimit)
      this.sendTo(peer, { type: 'catchup.overflow', channel, head: this.version });
    else for (const message of this.journal.slice(after, this.version)) this.sendTo(peer, message);
    for (const [id, { written, fence }] of this.texts) {
      if (written !== '' && !this.isFinal(id)) this.sendTo(peer, this.chunk(id, written, 0, fence));
    }
  }

  private chunk(event_id: string, delta: string, offset: number, fence: number): ChunkMessage {
    const session = { session_id: sessionId, timestamp: '2026-01-01T00:00:00Z' };
    return { ...session, type: 'stream.chunk', channel, event_id, event_type: 'llm_response', delta, offset, fence };
  }

  private isFinal(id: string) {
    return this.journal
      .slice(0, this.version)
      .some((message) => message.type === 'timeline_event.completed' && message.event_id === id);
  }

  /** Returns the events still streaming. */
  writing(): string[] {
    return this.journal
      .slice(0, this.version)
      .flatMap((message) =>
        message.type === 'timeline_event.created' && message.status === 'streaming' && !this.isFinal(message.event_id)
          ? message.event_id
          : [],
      );
  }

  private broadcast(message: object) {
    for (const peer of [...this.peers]) if (peer.subscribed) this.sendTo(peer, message);
  }

  /** Commits the next events; the first `lose` of them do not reach the subscribers, which no real server should do. */
  commit(count: number, lose = 0) {
    for (let n = 0; n < count && this.version < this.journal.length; n++) {
      this.version++;
      if (n >= lose) this.broadcast(this.journal[this.version - 1] ?? {});
    }
  }

  /** Sends the last events again, as two servers of the same session might. */
  repeat(count: number) {
    for (const message of this.journal.slice(Math.max(0, this.version - count), this.version)) this.broadcast(message);
  }

  /** Sends a change to the feed of all sessions. */
  change(version: number, id = sessionId) {
    for (const peer of [...this.peers]) {
      if (peer.feed) this.sendTo(peer, { type: 'session.changed', channel: 'sessions', session_id: id, version });
    }
  }

  write(id: string, delta: string, dropped = false) {
    const text = this.texts.get(id) ?? { written: '', saved: '', fence: 1 };
    const offset = text.written.length;
    this.texts.set(id, { ...text, written: text.written + delta });
    if (!dropped) this.broadcast(this.chunk(id, delta, offset, text.fence));
  }

  save() {
    for (const [id, text] of this.texts) this.texts.set(id, { ...text, saved: text.written });
  }

  /** Another server takes over: the texts start over. */
  takeOver() {
    for (const [id, text] of this.texts) this.texts.set(id, { ...text, written: '', fence: text.fence + 1 });
  }

  cut(code?: number) {
    for (const peer of this.peers.splice(0)) peer.events.closed(code);
  }

  /** The network drops the connections without notice. */
  vanish() {
    this.peers = [];
  }

  private answer<T>(make: () => T): Promise<T> {
    if (!this.reachable) return Promise.reject(new TypeError('Failed to fetch'));
    const value = structuredClone(make());
    if (this.latency === 0) return Promise.resolve(value);
    return new Promise((resolve) => this.clock.after(this.latency, () => resolve(value)));
  }

  readonly detail = (): Promise<SessionDetail> => {
    this.asked.detail++;
    return this.answer(() => detailAt(this.journal, this.version));
  };

  readonly timeline = (): Promise<Timeline> => {
    this.asked.timeline++;
    return this.answer(() =>
      previewed(
        timelineAt(this.journal, this.version, (id) => this.texts.get(id)?.saved ?? ''),
        this.previewLength,
      ),
    );
  };

  readonly event = (id: string): Promise<{ content: string }> => {
    this.asked.event++;
    return this.answer(() => ({ content: this.texts.get(id)?.saved ?? '' }));
  };
}
