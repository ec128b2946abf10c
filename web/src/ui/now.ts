/**
 * The clock of the dashboard. Each interval has one timer, however many ages are on screen, and the timer stops while
 * the tab is hidden or nothing subscribes to it.
 */
import { useSyncExternalStore } from 'react';

interface Ticker {
  now: Date;
  subscribe(listener: () => void): () => void;
}

const tickers = new Map<number, Ticker>();

function ticker(everyMs: number): Ticker {
  const known = tickers.get(everyMs);
  if (known !== undefined) return known;
  const made = makeTicker(everyMs);
  tickers.set(everyMs, made);
  return made;
}

function makeTicker(everyMs: number): Ticker {
  const listeners = new Set<() => void>();
  let timer: ReturnType<typeof setInterval> | undefined;

  const tick = () => {
    self.now = new Date();
    for (const listener of listeners) listener();
  };
  const run = () => {
    clearInterval(timer);
    timer = undefined;
    if (everyMs === 0 || listeners.size === 0 || document.hidden) return;
    timer = setInterval(tick, everyMs);
  };
  const seen = () => {
    if (!document.hidden) tick();
    run();
  };
  const self: Ticker = {
    now: new Date(),
    subscribe(listener) {
      listeners.add(listener);
      if (listeners.size === 1) {
        // The clock was stopped until now. React reads it again after subscribing, so the old time is never shown.
        self.now = new Date();
        document.addEventListener('visibilitychange', seen);
        run();
      }
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        document.removeEventListener('visibilitychange', seen);
        run();
      };
    },
  };
  return self;
}

/** Returns the current time, updated every `everyMs` milliseconds; never with 0. */
export function useNow(everyMs = 1000): Date {
  const clock = ticker(everyMs);
  return useSyncExternalStore(clock.subscribe, () => clock.now);
}
