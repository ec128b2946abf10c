/** Time limits of all tests. They are longer on a slow or busy machine; no test sets its own. */
import { availableParallelism, loadavg } from 'node:os';

/**
 * The variable in which vite.config.ts passes the measured factor to the test processes. Set it to choose a factor
 * yourself.
 */
const variable = 'TARSY_TEST_SLOWNESS';

/** For an idle machine, where a scenario takes seconds and each step milliseconds. */
const idleLimits = {
  /** For a scenario or hook. */
  test: 300_000,
  hook: 300_000,
  /** For one step: a state that the page reaches, an action in the browser, a line of a program. */
  step: 30_000,
};

/** How long the loop takes on one core of an idle machine of CI size, in milliseconds. */
const idleLoopMs = 60;

/** Times a fixed amount of work. Other load on the machine slows it down as much as a scenario. */
function work(): number {
  const began = performance.now();
  let state = 1;
  for (let n = 0; n < 20_000_000; n++) state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d + n);
  // Uses the result, so that the loop is not optimized away.
  return performance.now() - began + (state === 0 ? 1 : 0);
}

/**
 * Estimates how many times slower this machine is than an idle one, from the loop and from the load average, since load
 * may come in bursts. At most 20.
 */
function measure(): number {
  work();
  const load = (loadavg()[0] ?? 0) / availableParallelism();
  return Math.min(20, Math.max(1, work() / idleLoopMs, load));
}

/** Measures the machine once per run. */
export function measureSlowness(): void {
  process.env[variable] ??= measure().toFixed(1);
}

export function limits(): typeof idleLimits {
  const slowness = Number(process.env[variable] ?? 1);
  return { test: idleLimits.test * slowness, hook: idleLimits.hook * slowness, step: idleLimits.step * slowness };
}
