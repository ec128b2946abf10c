/** Subscribes to events, but re-renders a row at most ten times a second while its text streams. */
import { useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import type { EventView, SessionStore } from '@/live/view';

/** The shortest time between two renderings of streaming text, in milliseconds. */
const drawEvery = 100;

type Subscribe = (listener: () => void) => () => void;

/**
 * Throttles a subscription: it passes on the first change immediately, later ones at most once every `every`
 * milliseconds, and always the last one. `urgent` is called for every change; if it returns true, the change is passed
 * on immediately.
 */
export function throttled(subscribe: Subscribe, urgent: () => boolean, every = drawEvery): Subscribe {
  return (listener) => {
    let last = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const pass = () => {
      clearTimeout(timer);
      timer = undefined;
      last = performance.now();
      listener();
    };
    const stop = subscribe(() => {
      const wait = last + every - performance.now();
      if (urgent() || wait <= 0) pass();
      else timer ??= setTimeout(pass, wait);
    });
    return () => {
      clearTimeout(timer);
      stop();
    };
  };
}

type OnStatus = (before: EventView, after: EventView) => void;

/** Returns the events of a row. `onStatus` is called for each change of a status before the row is rendered with it. */
export function useLiveEvents(store: SessionStore, ids: readonly string[], onStatus: OnStatus): readonly EventView[] {
  const hear = useRef(onStatus);
  useEffect(() => {
    hear.current = onStatus;
  }, [onStatus]);

  const read = useCallback(() => ids.map((id) => store.event(id)).filter((event) => event !== undefined), [store, ids]);
  const drawn = useRef<readonly EventView[]>([]);
  const snapshot = useCallback(() => {
    const now = read();
    const same = now.length === drawn.current.length && now.every((event, at) => event === drawn.current[at]);
    if (!same) drawn.current = now;
    return drawn.current;
  }, [read]);

  const subscribe = useMemo(() => {
    let known = read();
    const all: Subscribe = (listener) => {
      const stops = ids.map((id) => store.subscribeEvent(id, listener));
      return () => {
        for (const stop of stops) stop();
      };
    };
    return throttled(all, () => {
      const before = known;
      known = read();
      let urgent = known.length !== before.length;
      for (const after of known) {
        const was = before.find((event) => event.id === after.id);
        if (!was || was.status === after.status) continue;
        hear.current(was, after);
        urgent = true;
      }
      return urgent;
    });
  }, [store, ids, read]);
  return useSyncExternalStore(subscribe, snapshot);
}
