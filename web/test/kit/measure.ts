/** Timers inside a real page, and the table that `make bench` prints. */
import type { Browser, Page } from 'playwright-core';

export interface Measured {
  what: string;
  got: string;
  note: string;
}

/** Prints a line of the table, in the columns of bench/. */
export function print({ what, got, note }: Measured): void {
  process.stdout.write(`${what.padEnd(62)} ${got.padStart(10)}   ${note}\n`);
}

export const ms = (value: number) => `${value < 10 ? value.toFixed(1) : Math.round(value)} ms`;

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

interface TraceEvent {
  name: string;
  ts: number;
  dur?: number;
  pid: number;
  tid: number;
  args?: { name?: string };
}

export interface Frames {
  count: number;
  /** The longest time between two frames, in milliseconds. */
  longest: number;
  /** The longest uninterrupted task of the page's main thread. */
  longestTask: number;
}

/** Returns the frame statistics of a page from Chromium's trace, recorded while `happens` runs. */
export async function framesOf(browser: Browser, page: Page, happens: () => Promise<unknown>): Promise<Frames> {
  const categories = ['devtools.timeline', 'disabled-by-default-devtools.timeline'];
  await browser.startTracing(page, { categories });
  await happens();
  const { traceEvents } = JSON.parse(String(await browser.stopTracing())) as { traceEvents: TraceEvent[] };
  const frames = traceEvents.filter(({ name }) => name === 'FireAnimationFrame').sort((a, b) => a.ts - b.ts);
  const [first] = frames;
  if (first === undefined) throw new Error('the trace has no frames');
  const times = [
    ...new Set(frames.filter(({ pid, tid }) => pid === first.pid && tid === first.tid).map(({ ts }) => ts)),
  ];
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name === 'RunTask' && pid === first.pid && tid === first.tid,
  );
  return {
    count: times.length,
    longest: Math.max(...times.slice(1).map((at, n) => at - (times[n] ?? at))) / 1000,
    longestTask: Math.max(0, ...tasks.map(({ dur = 0 }) => dur)) / 1000,
  };
}

/** Starts recording how long each key press takes until the page has rendered its effect. */
export async function watchKeys(page: Page): Promise<() => Promise<number[]>> {
  await page.evaluate(() => {
    const entries: { at: number; took: number }[] = [];
    Object.assign(window, { keyPresses: entries });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries())
        if (entry.name === 'keydown' || entry.name === 'keypress' || entry.name === 'input')
          entries.push({ at: entry.startTime, took: entry.duration });
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
  });
  return () =>
    page.evaluate(() => (Reflect.get(window, 'keyPresses') as { took: number }[]).map((entry) => entry.took));
}
