import type { Clock } from '../clock';

/** A clock that moves only when a test advances it. */
export class FakeClock implements Clock {
  private time = Date.UTC(2026, 0, 1);
  private waiting: { at: number; callback: () => void }[] = [];

  now() {
    return this.time;
  }

  after(ms: number, callback: () => void) {
    const entry = { at: this.time + Math.max(0, ms), callback };
    this.waiting.push(entry);
    return () => {
      this.waiting = this.waiting.filter((other) => other !== entry);
    };
  }

  get pending() {
    return this.waiting.length;
  }

  /** Advances the time, and lets the promises and callbacks due on the way settle. */
  async advance(ms: number) {
    const end = this.time + ms;
    for (;;) {
      await settled();
      const next = this.waiting.filter((entry) => entry.at <= end).sort((a, b) => a.at - b.at)[0];
      if (next === undefined) break;
      this.waiting = this.waiting.filter((entry) => entry !== next);
      this.time = Math.max(this.time, next.at);
      next.callback();
    }
    this.time = end;
  }
}

/** A settled promise can lead to others: a few rounds settle all of them. */
async function settled() {
  for (let round = 0; round < 12; round++) await Promise.resolve();
}
