/**
 * A watched session: loads it by REST, follows its journal, reloads it where the journal does not reach, and notifies
 * listeners of changes. The reducer interprets the messages; the store decides when to request what.
 */
import { asProblem } from '@/api/problem';
import type { SessionDetail, Timeline } from '@/api/types';
import type { Clock } from './clock';
import { type ChannelMessage, type ChunkMessage, isRecorded, type JournalMessage } from './message';
import { fromRest, gaps, type Known, reduce, type Step, withDetail, withSaved } from './reducer';
import type { Socket, Subscription } from './socket';
import type { EventView, Freshness, SessionState, SessionStore } from './view';

export interface WatchedSession extends SessionStore {
  /** Starts watching, or retries after a failure. */
  start(): void;
  /** Releases everything; the known state stays readable. */
  stop(): void;
}

export interface StoreConfig {
  sessionId: string;
  socket: Pick<Socket, 'subscribe'>;
  clock: Clock;
  previewLength: number;
  detail(): Promise<SessionDetail>;
  timeline(): Promise<Timeline>;
  event(eventId: string): Promise<{ content: string }>;
  /** Called with the full event when it has become final, and whether the store keeps only a preview. */
  completed(event: EventView, cut: boolean): void;
}

/** The shortest time between two batches of messages: drawing faster than people read only slows the page down. */
const applyEvery = 50;
const detailEvery = 2_000;
const detailAtOnce = 100;
/** The missing piece of a text may be in flight, so the first request waits a little. */
const firstGapRequest = 300;
const gapRequestEvery = 1_000;
const catchUpEvery = 2_000;
const firstRetry = 500;
const longestRetry = 10_000;
/** How long the first connection may take before the view counts as behind. */
const grace = 2_000;
/** How many messages may wait for a REST response; those beyond it are requested again. */
const mostWaiting = 5_000;

export function createSessionStore(config: StoreConfig): WatchedSession {
  return new Store(config);
}

class Store implements WatchedSession {
  readonly sessionId: string;
  private readonly clock: Clock;
  private readonly listeners = new Set<() => void>();
  private readonly eventListeners = new Map<string, Set<() => void>>();
  private readonly timers = new Map<string, () => void>();
  private readonly events = new Map<string, EventView>();
  private known: Known | undefined;
  private current: SessionState = { phase: 'loading' };
  private freshness: Freshness = { state: 'live' };

  /** Counts starts and stops: responses to requests of an earlier generation are ignored. */
  private generation = 0;
  private running = false;
  private subscription: Subscription | undefined;
  private inbox: (JournalMessage | ChunkMessage)[] = [];
  private loading = false;
  private failures = 0;
  private refusals = 0;
  private eventMissing = false;
  /** Whether the subscription is confirmed. */
  private linked = false;
  /** The journal's end when the subscription was confirmed; undefined until REST has reported it. */
  private target: number | undefined;
  /** Counts confirmations: a SessionDetail requested before one does not include the missed events. */
  private links = 0;
  private detailBusy = false;
  private detailUrgent = false;
  private lastDetail = Number.NEGATIVE_INFINITY;
  private lastApplied = Number.NEGATIVE_INFINITY;

  constructor(private readonly config: StoreConfig) {
    this.sessionId = config.sessionId;
    this.clock = config.clock;
  }

  readonly state = () => this.current;
  readonly event = (id: string) => this.events.get(id);

  readonly subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => {
      this.listeners.delete(listener);
    };
  };

  readonly subscribeEvent = (id: string, listener: () => void) => {
    const listeners = this.eventListeners.get(id) ?? new Set();
    listeners.add(listener);
    this.eventListeners.set(id, listeners);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0 && this.eventListeners.get(id) === listeners) this.eventListeners.delete(id);
    };
  };

  start() {
    if (this.running) {
      // Watched again: a failed request may work now, for example after a login.
      if (this.current.phase === 'failed') this.reload();
      return;
    }
    this.running = true;
    this.generation++;
    this.failures = 0;
    this.load();
  }

  stop() {
    if (!this.running) return;
    this.running = false;
    this.generation++;
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
    this.subscription?.end();
    this.subscription = undefined;
    this.inbox = [];
    this.loading = this.detailBusy = this.detailUrgent = this.linked = this.eventMissing = false;
    this.target = undefined;
  }

  readonly reload = () => {
    if (!this.running) return;
    this.failures = 0;
    if (this.known === undefined) this.show({ phase: 'loading' });
    this.load();
  };

  /** Schedules a callback under a name, unless one is already scheduled. */
  private later(name: string, ms: number, callback: () => void) {
    if (this.timers.has(name)) return;
    const cancel = this.clock.after(Math.max(0, ms), () => {
      this.timers.delete(name);
      callback();
    });
    this.timers.set(name, cancel);
  }

  private cancel(name: string) {
    this.timers.get(name)?.();
    this.timers.delete(name);
  }

  /** Waits for a response and handles it only if the store was not stopped or restarted in the meantime. */
  private async ask<T>(question: Promise<T>, answered: (answer: T) => void, failed: (error: unknown) => void) {
    const { generation } = this;
    const handle = await question.then(
      (answer) => () => answered(answer),
      (error: unknown) => () => failed(error),
    );
    if (generation === this.generation) handle();
  }

  // Loading everything.

  private load() {
    this.cancel('load');
    if (this.loading) return;
    this.loading = true;
    if (this.known !== undefined) this.assess();
    const both = Promise.all([this.config.detail(), this.config.timeline()]);
    void this.ask(
      both,
      ([detail, timeline]) => this.loaded(detail, timeline),
      (error) => this.loadFailed(error),
    );
  }

  private loaded(detail: SessionDetail, timeline: Timeline) {
    this.loading = false;
    this.failures = 0;
    this.lastDetail = this.clock.now();
    const next = fromRest(detail, timeline, this.known);
    // A response older than what the journal has reported since is useless.
    if (this.known === undefined || this.subscription === undefined || next.version >= this.known.version) {
      this.inbox.unshift(...(this.known?.held ?? []));
      this.known = { ...next, events: this.events };
      if (this.linked) this.target ??= Math.max(detail.version, timeline.version);
      if (this.subscription === undefined) this.follow(next.version);
      this.replace(next.events);
    }
    this.apply();
    this.requestMissingText(firstGapRequest);
  }

  private loadFailed(error: unknown) {
    this.loading = false;
    const problem = asProblem(error);
    // The view stays while the server is unreachable, but not if the session is gone.
    if (this.known === undefined || !problem.retryable) this.show({ phase: 'failed', problem });
    if (!problem.retryable) return;
    const wait = Math.min(longestRetry, firstRetry * 2 ** this.failures);
    this.failures++;
    this.later('load', wait, () => this.load());
  }

  private replace(next: ReadonlyMap<string, EventView>) {
    const before = new Map(this.events);
    this.events.clear();
    for (const [id, event] of next) this.events.set(id, event);
    this.assess();
    this.showView();
    const ids = new Set([...before.keys(), ...next.keys()]);
    this.notifyEvents([...ids].filter((id) => before.get(id) !== next.get(id)));
  }

  // Following the journal.

  private follow(version: number) {
    this.target = version;
    this.later('grace', grace, () => this.assess());
    this.subscription = this.config.socket.subscribe(`session:${this.sessionId}`, {
      position: () => this.known?.version ?? 0,
      received: (message) => this.received(message),
      confirmed: () => this.confirmed(),
      lost: () => this.lost(),
      refused: () => this.refused(),
    });
  }

  /** The server does not know the position or the session: REST shows which, and the journal is followed from there. */
  private refused() {
    this.subscription?.end();
    this.subscription = undefined;
    this.lost();
    this.later('load', Math.min(longestRetry, firstRetry * 2 ** this.refusals), () => this.load());
    this.refusals++;
  }

  private confirmed() {
    this.linked = true;
    this.links++;
    this.eventMissing = false;
    this.refusals = 0;
    this.cancel('grace');
    if (this.target === undefined) this.refresh(0);
    this.assess();
  }

  private lost() {
    this.linked = false;
    this.target = undefined;
    this.cancel('grace');
    this.assess();
  }

  private received(message: ChannelMessage) {
    if (message.type === 'catchup.overflow') {
      this.target = undefined;
      this.load();
      return;
    }
    if (message.type !== 'stream.chunk' && !isRecorded(message)) return;
    if (!this.loading || this.inbox.length < mostWaiting) this.inbox.push(message);
    this.later('apply', this.lastApplied + applyEvery - this.clock.now(), () => this.apply());
  }

  private apply() {
    this.cancel('apply');
    if (this.known === undefined || this.loading) return;
    this.lastApplied = this.clock.now();
    const messages = this.inbox;
    this.inbox = [];
    if (messages.length > 0) this.take(reduce(this.known, messages, this.config.previewLength));
    else this.assess();
    this.refreshAgain();
  }

  private take(step: Step) {
    const before = this.known?.view;
    this.known = { ...step.known, events: this.events };
    for (const [id, event] of step.changed) this.events.set(id, event);
    this.eventMissing = step.eventMissing;
    if (step.eventMissing) this.catchUp();
    if (step.urgent) this.refresh(detailAtOnce);
    this.assess();
    if (before !== this.known.view) this.showView();
    this.notifyEvents(step.changed.keys());
    for (const { event, cut } of step.completed) this.config.completed(event, cut);
    this.requestMissingText(firstGapRequest);
  }

  /** Requests the missing event. Messages before the replay are useless, so one request per interval is enough. */
  private catchUp() {
    if (this.timers.has('catchup')) return;
    this.subscription?.catchUp();
    this.later('catchup', catchUpEvery, () => {
      if (this.eventMissing) this.catchUp();
    });
  }

  // Requests for what the journal does not report.

  /** Schedules a request for the SessionDetail, at most one in `every` milliseconds. */
  private refresh(every: number) {
    const urgent = every < detailEvery;
    this.detailUrgent ||= urgent;
    if (this.detailBusy || this.loading) return;
    if (urgent) this.cancel('detail');
    this.later('detail', this.lastDetail + every - this.clock.now(), () => this.askDetail());
  }

  private askDetail() {
    const { links } = this;
    this.detailBusy = true;
    this.detailUrgent = false;
    this.lastDetail = this.clock.now();
    void this.ask(
      this.config.detail(),
      (detail) => {
        this.detailBusy = false;
        if (this.known === undefined) return;
        if (this.linked && links === this.links) this.target ??= detail.version;
        this.known = withDetail(this.known, detail);
        this.assess();
        this.showView();
        this.refreshAgain();
      },
      () => {
        this.detailBusy = this.detailUrgent = false;
        this.refresh(detailEvery);
      },
    );
  }

  /** Requests the SessionDetail again if the last response is behind the journal or the target is still unknown. */
  private refreshAgain() {
    if (this.known === undefined) return;
    const needed = this.linked && this.target === undefined;
    if (needed || this.known.version > this.known.detailVersion) {
      this.refresh(needed || this.detailUrgent ? detailAtOnce : detailEvery);
    }
  }

  /** Requests texts that have a gap. */
  private requestMissingText(wait: number) {
    if (this.known === undefined || gaps(this.known).length === 0) return;
    this.later('gaps', wait, () => {
      for (const id of this.known === undefined ? [] : gaps(this.known)) {
        void this.ask(
          this.config.event(id),
          (event) => this.missingTextArrived(id, event.content),
          () => {},
        );
      }
      this.requestMissingText(gapRequestEvery);
    });
  }

  private missingTextArrived(id: string, saved: string) {
    const step = this.known && withSaved(this.known, id, saved);
    if (step !== undefined) this.take({ ...step, eventMissing: this.eventMissing });
  }

  // Notifying.

  /** Updates the freshness of the view. */
  private assess() {
    const version = this.known?.version ?? 0;
    const caughtUp = this.target !== undefined && version >= this.target;
    const waiting = !this.linked && this.timers.has('grace');
    const live = waiting || (this.linked && caughtUp && !this.loading && !this.eventMissing);
    const reason = this.linked ? 'catching-up' : 'connecting';
    const old = this.freshness;
    if (live ? old.state === 'live' : old.state === 'behind' && old.reason === reason) return;
    const since = old.state === 'behind' ? old.since : new Date(this.clock.now());
    this.freshness = live ? { state: 'live' } : { state: 'behind', since, reason };
    if (this.current.phase === 'ready') this.showView();
  }

  private showView() {
    if (this.known === undefined) return;
    const { view } = this.known;
    const { current, freshness } = this;
    if (current.phase === 'ready' && current.view === view && current.freshness === freshness) return;
    this.show({ phase: 'ready', view, freshness });
  }

  private show(state: SessionState) {
    this.current = state;
    for (const listener of [...this.listeners]) listener();
  }

  private notifyEvents(ids: Iterable<string>) {
    for (const id of ids) {
      for (const listener of [...(this.eventListeners.get(id) ?? [])]) listener();
    }
  }
}
