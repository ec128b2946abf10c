import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { throttled } from './live';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function source() {
  const listeners = new Set<() => void>();
  return {
    change: () => {
      for (const listener of listeners) listener();
    },
    subscribe: (listener: () => void) => {
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
  };
}

test('200 changes in a second are drawn ten times, including first and last', () => {
  const { change, subscribe } = source();
  const drawn: number[] = [];
  let changes = 0;
  throttled(subscribe, () => false)(() => drawn.push(changes));
  for (let n = 0; n < 200; n++) {
    changes++;
    change();
    vi.advanceTimersByTime(5);
  }
  vi.advanceTimersByTime(1000);
  expect(drawn[0]).toBe(1);
  expect(drawn.at(-1)).toBe(200);
  expect(drawn.length).toBeLessThanOrEqual(11);
  expect(drawn.length).toBeGreaterThanOrEqual(9);
});

test('an urgent change is drawn immediately, and only once', () => {
  const { change, subscribe } = source();
  let urgent = false;
  let drawn = 0;
  throttled(
    subscribe,
    () => urgent,
  )(() => {
    drawn++;
  });
  change();
  change();
  expect(drawn).toBe(1);
  urgent = true;
  change();
  expect(drawn).toBe(2);
  vi.advanceTimersByTime(1000);
  expect(drawn).toBe(2);
});

test('every change is checked for urgency, even one that is drawn anyway', () => {
  const { change, subscribe } = source();
  const asked = vi.fn(() => false);
  throttled(subscribe, asked)(() => {});
  change();
  change();
  expect(asked).toHaveBeenCalledTimes(2);
});

test('nothing is drawn after unsubscribing', () => {
  const { change, subscribe } = source();
  let drawn = 0;
  const stop = throttled(
    subscribe,
    () => false,
  )(() => {
    drawn++;
  });
  change();
  change();
  stop();
  change();
  vi.advanceTimersByTime(1000);
  expect(drawn).toBe(1);
});
