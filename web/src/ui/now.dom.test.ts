import { act, createElement } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { useNow } from './now';

let drawn: number[];
let root: Root;

function Clock() {
  drawn.push(useNow(1000).getTime());
  return null;
}

function hide(hidden: boolean) {
  Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
  act(() => void document.dispatchEvent(new Event('visibilitychange')));
}

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  vi.useFakeTimers({ now: 10_000 });
  drawn = [];
  root = createRoot(document.createElement('div'));
});
afterEach(() => {
  act(() => root.unmount());
  vi.useRealTimers();
});

it('shares one timer and stops it without listeners', () => {
  act(() => root.render([createElement(Clock, { key: 1 }), createElement(Clock, { key: 2 })]));
  expect(vi.getTimerCount()).toBe(1);
  act(() => vi.advanceTimersByTime(1000));
  expect(drawn.slice(-2)).toEqual([11_000, 11_000]);
  act(() => root.render([]));
  expect(vi.getTimerCount()).toBe(0);
});

it('pauses in a hidden tab and updates immediately when visible', () => {
  act(() => root.render(createElement(Clock)));
  hide(true);
  expect(vi.getTimerCount()).toBe(0);
  vi.setSystemTime(60_000);
  hide(false);
  expect(drawn.at(-1)).toBe(60_000);
  expect(vi.getTimerCount()).toBe(1);
});

it('does not show a stale time after a pause', () => {
  act(() => root.render(createElement(Clock)));
  act(() => root.render([]));
  vi.setSystemTime(99_000);
  act(() => root.render(createElement(Clock)));
  expect(drawn.at(-1)).toBe(99_000);
});
