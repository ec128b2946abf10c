import { QueryClient } from '@tanstack/react-query';
import { beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from './fake/clock';
import { FakeServer } from './fake/server';
import { sessionId } from './fake/story';
import { createLive, type Live } from './live';

let clock: FakeClock;
let server: FakeServer;
let live: Live;

beforeEach(() => {
  clock = new FakeClock();
  server = new FakeServer(clock, []);
  live = createLive(new QueryClient(), server.env);
});

describe('live data of a page', () => {
  test('a session has one store, kept for 30 seconds after its last watcher', async () => {
    const store = live.session(sessionId);
    expect(live.session(sessionId)).toBe(store);
    const leave = live.watch(store);
    const leaveToo = live.watch(store);
    leave();
    await clock.advance(120_000);
    expect(live.session(sessionId)).toBe(store);
    leaveToo();
    await clock.advance(29_000);
    expect(live.session(sessionId)).toBe(store);
    await clock.advance(2_000);
    expect(live.session(sessionId)).not.toBe(store);
  });

  test('a session watched again in time keeps its store', async () => {
    const store = live.session(sessionId);
    live.watch(store)();
    await clock.advance(20_000);
    live.watch(store);
    await clock.advance(60_000);
    expect(live.session(sessionId)).toBe(store);
  });

  test('list changes are reported at most once a second and after reconnecting', async () => {
    const calls: number[] = [];
    const began = clock.now();
    const leave = live.feed(() => calls.push(clock.now() - began));
    await clock.advance(10);
    // Changes before the confirmation were not reported.
    expect(calls).toHaveLength(1);
    for (let n = 0; n < 25; n++) {
      server.change(n);
      await clock.advance(100);
    }
    expect(calls).toHaveLength(3);
    await clock.advance(2_000);
    expect(calls).toHaveLength(4);
    server.cut();
    await clock.advance(1_000);
    expect(calls).toHaveLength(5);
    leave();
    server.change(1);
    await clock.advance(10_000);
    expect(calls).toHaveLength(5);
    expect(clock.pending).toBe(0);
  });

  test('a feed for one session ignores changes of others', async () => {
    let calls = 0;
    const leave = live.feed(() => calls++, sessionId);
    await clock.advance(10);
    expect(calls).toBe(1);
    server.change(1, 'another');
    await clock.advance(10_000);
    expect(calls).toBe(1);
    server.change(2, sessionId);
    await clock.advance(10_000);
    expect(calls).toBe(2);
    leave();
  });
});
