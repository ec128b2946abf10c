/** Which next steps of which sessions somebody has ticked. This browser remembers them; the server does not know. */
import { useCallback, useSyncExternalStore } from 'react';

const key = 'tarsy.steps';
/** Sessions of which ticks are kept; the oldest are forgotten. */
const mostSessions = 200;

type Ticks = Record<string, number[]>;

/** Holds where storage is forbidden, until the page is closed. */
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

/** Reads what was stored; text that is not ours counts as nothing. */
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

/** The ticks after one step of a session was ticked or not. */
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

/** The ticked steps of a session, and a way to tick one. */
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
