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

test('200 changes a second are drawn ten times, the first and the last among them', () => {
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

test('what cannot wait is drawn at once, and not a second time', () => {
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

test('every change is looked at, also one that is drawn anyway', () => {
  const { change, subscribe } = source();
  const asked = vi.fn(() => false);
  throttled(subscribe, asked)(() => {});
  change();
  change();
  expect(asked).toHaveBeenCalledTimes(2);
});

test('nothing is drawn after the end', () => {
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
