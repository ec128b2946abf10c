/**
 * Which rows are open. What runs and what went wrong is open by itself; what a person chose wins, and is kept while the page
 * is open. Nothing folds under the eyes of a reader who is not at the end.
 */
import type { EventView } from '@/live/view';
import { fewestGrouped, type GroupRow, groupKey } from './group';

/** Whether an event is open unless a person chose otherwise. */
export function opensByItself(event: EventView | undefined): boolean {
  if (!event) return false;
  return event.status === 'streaming' || wentWrong(event);
}

export function wentWrong(event: EventView): boolean {
  if (event.status === 'failed' || event.status === 'timed_out') return true;
  if (event.event_type === 'error') return true;
  return event.metadata?.is_error === true || event.metadata?.outcome === 'unknown';
}

type Listener = () => void;

/** The choices of one open page. Rows listen to their own id; lists listen to all that change at once. */
export class Folding {
  readonly #choices = new Map<string, boolean>();
  readonly #held = new Set<string>();
  readonly #listeners = new Map<string, Set<Listener>>();
  readonly #manyListeners = new Set<Listener>();
  readonly #groupListeners = new Set<Listener>();
  #groupVersion = 0;

  /** Whether the row of these events (a call and its summaries) is open. */
  isOpen(id: string, ...events: readonly (EventView | undefined)[]): boolean {
    const choice = this.#choices.get(id);
    if (choice !== undefined) return choice;
    return this.#held.has(id) || events.some(opensByItself);
  }

  /** A person opened or folded a row, or asked for it by its address. */
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
   * Whether the calls of a group are shown one by one. A group forms while people watch: what they opened or folded of its first
   * calls stays where it is.
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

  /** A number that changes whenever a group may have been opened or folded. */
  readonly groupVersion = (): number => this.#groupVersion;

  readonly subscribeGroups = (listener: Listener): (() => void) => {
    this.#groupListeners.add(listener);
    return () => {
      this.#groupListeners.delete(listener);
    };
  };

  /**
   * Reports that an event went from one state to another. Where that would fold its row and the reader is not at the end, the
   * row stays open.
   */
  changed(id: string, before: EventView | undefined, after: EventView | undefined, atEnd: boolean): void {
    if (atEnd || !opensByItself(before) || opensByItself(after)) return;
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

  /** Called when many rows changed at once, also rows that are not on screen. */
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
