/**
 * What mounted components offer to the frame: commands for the palette, keyboard shortcuts. Each component has an
 * entry, which is removed when it unmounts; later entries come first in the list.
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

  /** Returns everything on offer. The list keeps its identity until something changes. */
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

/** Offers items while the caller is mounted, always those of its latest render. */
export function useOffer<T>(registry: Registry<T>, items: readonly T[]): void {
  const [owner] = useState(() => ({}));
  // No dependency list: an item's function closes over the latest render. Only an open palette or help dialog
  // re-renders.
  useEffect(() => registry.put(owner, items));
  useEffect(() => () => registry.remove(owner), [registry, owner]);
}
