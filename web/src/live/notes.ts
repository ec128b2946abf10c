/** Which queries an event of the journal of notes makes old. The page loads what it shows again; events carry no rows. */
import type { QueryClient } from '@tanstack/react-query';
import { keys } from '@/api/notes';
import type { Clock } from './clock';
import type { ChannelMessage } from './message';
import type { Socket } from './socket';

export type Topic = keyof typeof keys;

const all = Object.keys(keys) as Topic[];

/** By the first word of the event's type. A note's jobs change with it; counts of projects and tags change with entities. */
const topics: Record<string, readonly Topic[]> = {
  note: ['notes', 'jobs', 'review'],
  entity: ['entities', 'notes', 'projects', 'tags', 'review'],
  review: ['review', 'notes', 'entities'],
  project: ['projects', 'review', 'entities'],
  epic: ['projects', 'review', 'entities'],
  tag: ['tags', 'entities'],
};

/** Everything where the type is unknown: a newer server may have more of them. */
export function topicsOf(type: string): readonly Topic[] {
  return topics[type.slice(0, type.indexOf('.'))] ?? all;
}

/** The shortest time between two reports: a burst of notes is one refresh. */
const reportEvery = 500;

/**
 * Calls back with what may have changed, at most twice a second. It asks for the events after the last one it knows. What
 * happened before the first confirmation was not reported, so that counts as a change of everything.
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

/** Marks what changed as old. In a hidden tab it is loaded when somebody looks. */
export function invalidate(client: QueryClient, changed: ReadonlySet<Topic>): void {
  const refetchType = globalThis.document?.hidden ? 'none' : 'active';
  for (const topic of changed) {
    void client.invalidateQueries({ queryKey: keys[topic], refetchType });
  }
}
