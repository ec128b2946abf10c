/**
 * Which rows are open. Running and failed rows open automatically; a person's choice wins and is kept while the page is
 * open. No row collapses in front of a reader who is not at the end.
 */
import type { EventView } from '@/live/view';
import { fewestGrouped, type GroupRow, groupKey } from './group';

/** Reports whether an event is open by default. */
export function isOpenByDefault(event: EventView | undefined): boolean {
  if (!event) return false;
  return event.status === 'streaming' || hasFailed(event);
}

export function hasFailed(event: EventView): boolean {
  if (event.status === 'failed' || event.status === 'timed_out') return true;
  if (event.event_type === 'error') return true;
  return event.metadata?.is_error === true || event.metadata?.outcome === 'unknown';
}

type Listener = () => void;

/** The choices of one open page. Rows subscribe to their own id; lists subscribe to bulk changes. */
export class Folding {
  readonly #choices = new Map<string, boolean>();
  readonly #held = new Set<string>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #manyListeners = new Set<Listener>();
  readonly #groupListeners = new Set<Listener>();
  #groupVersion = 0;

  /** Reports whether the row of these events (a call and its summaries) is open. */
  isOpen(id: string, ...events: readonly (EventView | undefined)[]): boolean {
    const choice = this.#choices.get(id);
    if (choice !== undefined) return choice;
    return this.#held.has(id) || events.some(isOpenByDefault);
  }

  /** Records that a person opened or collapsed a row, or requested it through the address. */
  choose(id: string, open: boolean): void {
    if (this.#choices.get(id) === open) return;
    this.#choices.set(id, open);
    this.#notify(id);
  }

  chooseAll(ids: readonly string[], open: boolean): void {
    for (const id of ids) {
      this.choose(id, open);
      this.#choices.set(groupKey(id), open);
    }
    for (const listener of this.#manyListeners) listener();
    this.#groupsChanged();
  }

  /**
   * Reports whether the calls of a group are shown one by one. A group may form while people watch: if they opened or
   * collapsed one of its first calls, the group stays open.
   */
  isGroupOpen(group: GroupRow): boolean {
    const choice = this.#choices.get(group.key);
    if (choice !== undefined) return choice;
    const first = group.calls.slice(0, fewestGrouped);
    return first.some(({ eventId }) => this.#choices.has(eventId) || this.#held.has(eventId));
  }

  chooseGroup(key: string, open: boolean): void {
    this.#choices.set(key, open);
    this.#groupsChanged();
  }

  /** A number that changes whenever a group may have been opened or collapsed. */
  readonly groupVersion = (): number => this.#groupVersion;

  readonly subscribeGroups = (listener: Listener): (() => void) => {
    this.#groupListeners.add(listener);
    return () => {
      this.#groupListeners.delete(listener);
    };
  };

  /**
   * Reports an event's change of state. If that would collapse its row while the reader is not at the end, the row
   * stays open.
   */
  changed(id: string, before: EventView | undefined, after: EventView | undefined, atEnd: boolean): void {
    if (atEnd || !isOpenByDefault(before) || isOpenByDefault(after)) return;
    this.#held.add(id);
    this.#notify(id);
  }

  subscribe(id: string, listener: Listener): () => void {
    const listeners = this.#listeners.get(id) ?? new Set<Listener>();
    this.#listeners.set(id, listeners);
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
      if (listeners.size === 0) this.#listeners.delete(id);
    };
  }

  /** Calls back when many rows change at once, including rows that are not on screen. */
  subscribeMany(listener: Listener): () => void {
    this.#manyListeners.add(listener);
    return () => {
      this.#manyListeners.delete(listener);
    };
  }

  #groupsChanged(): void {
    this.#groupVersion++;
    for (const listener of this.#groupListeners) listener();
  }

  #notify(id: string): void {
    for (const listener of this.#listeners.get(id) ?? []) listener();
  }
}
