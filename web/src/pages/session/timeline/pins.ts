/**
 * Keeps lists at their ends, all in one go: first every end is read, then every list is moved. One after the other, each list
 * would have the browser lay out the page again, which with eight agents took most of a frame.
 */
const waiting = new Set<() => (() => void) | undefined>();

/** Calls `read` before the next frame, and what it returns after all others have read. */
export function pinSoon(read: () => (() => void) | undefined): void {
  if (waiting.size === 0) queueMicrotask(pinAll);
  waiting.add(read);
}

function pinAll(): void {
  const reads = [...waiting];
  waiting.clear();
  const moves = reads.map((read) => read());
  for (const move of moves) move?.();
}
