import { describe, expect, it } from 'vitest';
import { agreementOf, opinions, ratingsOf, sessionsOf, timeOf } from './words';

describe('quality in words', () => {
  it('distinguishes no ratings from an agreement of 0%', () => {
    expect(agreementOf({ agreement: null })).toBe('–');
    expect(agreementOf({ agreement: 0 })).toBe('0%');
    expect(agreementOf({ agreement: 0.75 })).toBe('75%');
  });

  it('lists the given ratings', () => {
    expect(ratingsOf({ right: 3, partly: 0, wrong: 1 })).toBe('3 right, 1 wrong');
    expect(ratingsOf({ right: 0, partly: 2, wrong: 0 })).toBe('2 partly right');
    expect(ratingsOf({ right: 0, partly: 0, wrong: 0 })).toBe('no ratings');
    expect(opinions({ right: 3, partly: 2, wrong: 1 })).toBe(6);
  });

  it('counts sessions without a verdict separately', () => {
    expect(sessionsOf({ sessions: 3, outcomes: { cause_found: 2, false_alarm: 1 } })).toBe('3 sessions');
    expect(sessionsOf({ sessions: 4, outcomes: { cause_found: 1 } })).toBe('4 sessions, 3 without a verdict');
    expect(timeOf(null)).toBe('–');
    expect(timeOf(61_000)).toBe('1 m 01 s');
  });
});
