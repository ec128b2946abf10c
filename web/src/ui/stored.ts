/** A setting stored in this browser, shared by all its tabs. */
import { useSyncExternalStore } from 'react';

export class Stored<T extends string> {
  private readonly key: string;
  private readonly allowed: readonly [T, ...T[]];
  private readonly listeners = new Set<() => void>();
  /** Used until the page is closed if storage is not available. */
  private unsaved: T | undefined;

  /** The first of the allowed values is the default. */
  constructor(key: string, allowed: readonly [T, ...T[]]) {
    this.key = key;
    this.allowed = allowed;
  }

  get = (): T => {
    const kept = this.unsaved ?? this.read();
    return this.allowed.find((value) => value === kept) ?? this.allowed[0];
  };

  set(value: T): void {
    this.unsaved = undefined;
    try {
      if (value === this.allowed[0]) localStorage.removeItem(this.key);
      else localStorage.setItem(this.key, value);
    } catch {
      this.unsaved = value;
    }
    for (const listener of this.listeners) listener();
  }

  subscribe = (listener: () => void): (() => void) => {
    const elsewhere = (event: StorageEvent) => {
      if (event.key === this.key || event.key === null) listener();
    };
    this.listeners.add(listener);
    window.addEventListener('storage', elsewhere);
    return () => {
      this.listeners.delete(listener);
      window.removeEventListener('storage', elsewhere);
    };
  };

  private read(): string | null {
    try {
      return localStorage.getItem(this.key);
    } catch {
      return null;
    }
  }
}

export function useStored<T extends string>(stored: Stored<T>): T {
  // The third argument is for tests that render to a string; without storage it returns the default.
  return useSyncExternalStore(stored.subscribe, stored.get, stored.get);
}
