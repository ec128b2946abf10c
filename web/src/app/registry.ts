/**
 * What the mounted parts of the page offer to the frame: commands for the palette, keys for the keyboard. Each part
 * has its own place, which is emptied when the part goes; parts that came later are first in the list.
 */
import { useEffect, useState } from 'react';

export class Registry<T> {
  private readonly offers = new Map<object, readonly T[]>();
  private readonly listeners = new Set<() => void>();
  private all: readonly T[] = [];

  put(owner: object, items: readonly T[]): void {
    this.offers.set(owner, items);
    this.changed();
  }

  remove(owner: object): void {
    if (this.offers.delete(owner)) this.changed();
  }

  /** Everything on offer; the same list until something changes. */
  snapshot = (): readonly T[] => this.all;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  private changed(): void {
    this.all = [...this.offers.values()].reverse().flat();
    for (const listener of this.listeners) listener();
  }
}

/** Offers these items while the caller is mounted, always as it last drew them. */
export function useOffer<T>(registry: Registry<T>, items: readonly T[]): void {
  const [owner] = useState(() => ({}));
  // Without dependencies: an item's function closes over the latest render. Only an open palette renders again for it.
  useEffect(() => registry.put(owner, items));
  useEffect(() => () => registry.remove(owner), [registry, owner]);
}
