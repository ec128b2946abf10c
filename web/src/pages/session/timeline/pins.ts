/**
 * Scrolls lists to their ends in one batch: first it reads all ends, then it moves all lists. Handled one by one, each
 * list would force a layout, which took most of a frame with eight agents.
 */
const waiting = new Set<() => (() => void) | undefined>();

/** Calls `read` before the next frame, and the function it returns after all reads. */
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
