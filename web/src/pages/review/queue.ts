/** The order in which items are shown and decided. */

/**
 * Returns the item to show after a decision: the next in the list or, at its end, the previous one. Undefined if none
 * is left.
 */
export function afterDecision(ids: readonly string[], decided: string): string | undefined {
  const at = ids.indexOf(decided);
  const rest = ids.filter((id) => id !== decided);
  return rest[at < 0 ? 0 : Math.min(at, rest.length - 1)];
}

/** Returns the item that j and k lead to; the list does not wrap around. */
export function stepped(ids: readonly string[], current: string | undefined, step: 1 | -1): string | undefined {
  const at = current === undefined ? -1 : ids.indexOf(current);
  if (at < 0) return ids[0];
  return ids[Math.min(Math.max(at + step, 0), ids.length - 1)];
}

/** How long a decision can be undone; the server has the same limit. */
export const undoMs = 3_600_000;

/** Returns the minutes left to undo a decision; 0 if it is too late. */
export function minutesLeft(decidedAt: string, now: Date): number {
  const left = new Date(decidedAt).getTime() + undoMs - now.getTime();
  return left <= 0 ? 0 : Math.max(1, Math.floor(left / 60_000));
}
