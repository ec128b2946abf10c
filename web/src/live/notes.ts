/**
 * The queries that an event of the notes journal invalidates. Events carry no rows, so the page reloads what it shows.
 */
import type { QueryClient } from '@tanstack/react-query';
import { keys } from '@/api/notes';
import type { Clock } from './clock';
import type { ChannelMessage } from './message';
import type { Socket } from './socket';

export type Topic = keyof typeof keys;

const all = Object.keys(keys) as Topic[];

/**
 * By the first word of the event type. A note's jobs change with the note; the counts of projects and tags change with
 * entities.
 */
const topics: Record<string, readonly Topic[]> = {
  note: ['notes', 'jobs', 'review'],
  entity: ['entities', 'notes', 'projects', 'tags', 'review'],
  review: ['review', 'notes', 'entities'],
  project: ['projects', 'review', 'entities'],
  epic: ['projects', 'review', 'entities'],
  tag: ['tags', 'entities'],
};

/** Returns every topic if the type is unknown: a newer server may have more types. */
export function topicsOf(type: string): readonly Topic[] {
  return topics[type.slice(0, type.indexOf('.'))] ?? all;
}

/** The shortest time between two reports: a burst of notes causes one refresh. */
const reportEvery = 500;

/**
 * Calls back with the topics that may have changed, at most twice a second. Resumes after the last known event. Earlier
 * changes were not reported before the first confirmation, so a confirmation counts as a change of every topic.
 */
export function followNotes(socket: Socket, clock: Clock, onChange: (changed: ReadonlySet<Topic>) => void): () => void {
  let position: number | undefined;
  let changed = new Set<Topic>();
  let cancel: (() => void) | undefined;
  const note = (some: readonly Topic[]) => {
    for (const topic of some) changed.add(topic);
    cancel ??= clock.after(reportEvery, () => {
      cancel = undefined;
      const report = changed;
      changed = new Set();
      onChange(report);
    });
  };
  const subscription = socket.subscribe('notes', {
    position: () => position,
    received(message: ChannelMessage) {
      if ('db_event_id' in message && typeof message.db_event_id === 'number') position = message.db_event_id;
      if (message.type !== 'catchup.overflow') return note(topicsOf(message.type));
      position = message.head;
      note(all);
    },
    confirmed: () => note(all),
    lost: () => {},
  });
  return () => {
    cancel?.();
    subscription.end();
  };
}

/** Invalidates the changed topics. A hidden tab reloads them when it becomes visible. */
export function invalidate(client: QueryClient, changed: ReadonlySet<Topic>): void {
  const refetchType = globalThis.document?.hidden ? 'none' : 'active';
  for (const topic of changed) {
    void client.invalidateQueries({ queryKey: keys[topic], refetchType });
  }
}
