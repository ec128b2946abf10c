/** Time limits of the tests, in one place. A machine that is slow or busy gets more of everything; no test names a time of its own. */
import { availableParallelism, loadavg } from 'node:os';

/** Where vite.config.ts leaves the measurement for the processes that run tests. Set it to choose a factor yourself. */
const variable = 'TARSY_TEST_SLOWNESS';

/** On a quiet machine: a scenario takes seconds, and a step of it milliseconds. */
const quiet = {
  /** One scenario or hook. */
  test: 300_000,
  hook: 300_000,
  /** One step of it: a state that the page reaches, an action in the browser, a line of a program. */
  step: 30_000,
};

/** What the loop takes on one core of a quiet machine of the size that CI has, in milliseconds. */
const usual = 60;

/** Runs a fixed piece of work. What else runs on the machine lengthens it as it lengthens every scenario. */
function work(): number {
  const began = performance.now();
  let state = 1;
  for (let n = 0; n < 20_000_000; n++) state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d + n);
  // The result is used, or the loop would be no work.
  return performance.now() - began + (state === 0 ? 1 : 0);
}

/** How many times slower than a quiet machine this one is: by a loop now, or by its load, which may come in bursts. At most 20. */
function measure(): number {
  work();
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.min(20, Math.max(1, work() / usual, load));
}

/** Measures the machine once for a run. */
export function measureSlowness(): void {
  process.env[variable] ??= measure().toFixed(1);
}

export function limits(): typeof quiet {
  const slowness = Number(process.env[variable] ?? 1);
  return { test: quiet.test * slowness, hook: quiet.hook * slowness, step: quiet.step * slowness };
}
