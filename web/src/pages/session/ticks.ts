/** The ticked next steps of each session. They are stored in this browser, not on the server. */
import { useCallback, useSyncExternalStore } from 'react';

const key = 'tarsy.steps';
/** How many sessions keep their ticks; the oldest are dropped. */
const mostSessions = 200;

type Ticks = Record<string, number[]>;

/** Used until the page is closed if storage is not available. */
let unsaved: string | undefined;
const listeners = new Set<() => void>();

function stored(): string {
  if (unsaved !== undefined) return unsaved;
  try {
    return localStorage.getItem(key) ?? '';
  } catch {
    return '';
  }
}

/** Parses the stored text; anything malformed is ignored. */
export function readTicks(text: string): Ticks {
  try {
    const value: unknown = JSON.parse(text || '{}');
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
    const lists = Object.entries(value).filter((entry): entry is [string, number[]] => Array.isArray(entry[1]));
    return Object.fromEntries(lists.map(([id, steps]) => [id, steps.filter(Number.isInteger)]));
  } catch {
    return {};
  }
}

/** Returns the ticks after a step was ticked or unticked. */
export function withTick(ticks: Ticks, sessionId: string, step: number, on: boolean): Ticks {
  const { [sessionId]: before = [], ...others } = ticks;
  const steps = on ? [...new Set([...before, step])].sort((a, b) => a - b) : before.filter((each) => each !== step);
  const kept = Object.entries(others).slice(-(mostSessions - 1));
  return Object.fromEntries(steps.length > 0 ? [...kept, [sessionId, steps]] : kept);
}

function subscribe(listener: () => void): () => void {
  const elsewhere = (event: StorageEvent) => {
    if (event.key === key || event.key === null) listener();
  };
  listeners.add(listener);
  window.addEventListener('storage', elsewhere);
  return () => {
    listeners.delete(listener);
    window.removeEventListener('storage', elsewhere);
  };
}

/** Returns the ticked steps of a session, and a function to change one. */
export function useTicks(sessionId: string): [ReadonlySet<number>, (step: number, on: boolean) => void] {
  const text = useSyncExternalStore(subscribe, stored);
  const tick = useCallback(
    (step: number, on: boolean) => {
      const next = JSON.stringify(withTick(readTicks(stored()), sessionId, step, on));
      try {
        localStorage.setItem(key, next);
        unsaved = undefined;
      } catch {
        unsaved = next;
      }
      for (const listener of listeners) listener();
    },
    [sessionId],
  );
  return [new Set(readTicks(text)[sessionId]), tick];
}
