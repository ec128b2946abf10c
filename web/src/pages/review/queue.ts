/** Which item is looked at, and which comes after it. */

/** The item after a decided one: the next of the list, or the one before it at the end. Undefined if none is left. */
export function afterDecision(ids: readonly string[], decided: string): string | undefined {
  const at = ids.indexOf(decided);
  const rest = ids.filter((id) => id !== decided);
  return rest[at < 0 ? 0 : Math.min(at, rest.length - 1)];
}

/** The item that j and k lead to; the list does not go round at its ends. */
export function stepped(ids: readonly string[], current: string | undefined, step: 1 | -1): string | undefined {
  const at = current === undefined ? -1 : ids.indexOf(current);
  if (at < 0) return ids[0];
  return ids[Math.min(Math.max(at + step, 0), ids.length - 1)];
}

/** How long after a decision it can be undone; the server has the same. */
export const undoMs = 3_600_000;

/** The minutes that are left to undo a decision; 0 if it is too late. */
export function minutesLeft(decidedAt: string, now: Date): number {
  const left = new Date(decidedAt).getTime() + undoMs - now.getTime();
  return left <= 0 ? 0 : Math.max(1, Math.floor(left / 60_000));
}
