/** Labels, limits and helpers for the handling of sessions. */
import type { Handling, HandlingState } from '@/api/types';

/** The states, in order. */
export const handlingStates = ['open', 'acknowledged', 'resolved'] as const satisfies readonly HandlingState[];

const words: Record<string, string> = { open: 'Open', acknowledged: 'Acknowledged', resolved: 'Resolved' };

/** Returns the label of a state; one of a newer server is shown as is. */
export function handlingWord(state: string): string {
  return words[state] ?? state;
}

/** The server's limits: lengths in characters, and the number of tags. */
export const longestTag = 50;
export const mostTags = 20;
export const longestResolution = 2_000;
export const longestAssignee = 200;

/** The assignee value that the server replaces with the caller. */
export const me = 'me';

/** The handling of a session that nobody has handled. */
export function unhandled(sessionId: string): Handling {
  return {
    session_id: sessionId,
    state: 'open',
    assignee: '',
    assignee_id: '',
    acknowledged_by: '',
    acknowledged_at: null,
    resolved_by: '',
    resolved_at: null,
    resolution: '',
    tags: [],
    version: 0,
    updated_at: null,
    updated_by: '',
  };
}

/** Returns who changed a session to its state, and when; undefined while it is open. */
export function doneBy(handling: Handling): { by: string; at: string } | undefined {
  if (handling.state === 'resolved' && handling.resolved_at)
    return { by: handling.resolved_by, at: handling.resolved_at };
  if (handling.state === 'acknowledged' && handling.acknowledged_at) {
    return { by: handling.acknowledged_by, at: handling.acknowledged_at };
  }
  return undefined;
}

const key = (tag: string) => tag.toLowerCase();

/** Adds a tag the way the server does: trimmed, sorted, and unique regardless of case. */
export function withTag(tags: readonly string[], typed: string): string[] {
  const tag = typed.trim();
  if (tag === '' || tags.some((other) => key(other) === key(tag))) return [...tags];
  return [...tags, tag].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** Returns the changes from one list of tags to another. Sending only these keeps concurrent changes by others. */
export function tagChange(before: readonly string[], after: readonly string[]): { add: string[]; remove: string[] } {
  const has = (tags: readonly string[], tag: string) => tags.some((other) => key(other) === key(tag));
  return { add: after.filter((tag) => !has(before, tag)), remove: before.filter((tag) => !has(after, tag)) };
}
