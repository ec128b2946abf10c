import { QueryClient } from '@tanstack/react-query';
import { beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from './fake/clock';
import { FakeServer } from './fake/server';
import { sessionId } from './fake/story';
import { createLive, type Live } from './live';
import { createSessions, type Sessions } from './sessions';

let clock: FakeClock;
let server: FakeServer;
let live: Live;
let sessions: Sessions;

beforeEach(() => {
  clock = new FakeClock();
  server = new FakeServer(clock, []);
  live = createLive(server.env);
  sessions = createSessions(new QueryClient(), live);
});

describe('live data of a page', () => {
  test('a session has one store, kept for 30 seconds after its last watcher', async () => {
    const store = sessions.session(sessionId);
    expect(sessions.session(sessionId)).toBe(store);
    const leave = sessions.watch(store);
    const leaveToo = sessions.watch(store);
    leave();
    await clock.advance(120_000);
    expect(sessions.session(sessionId)).toBe(store);
    leaveToo();
    await clock.advance(29_000);
    expect(sessions.session(sessionId)).toBe(store);
    await clock.advance(2_000);
    expect(sessions.session(sessionId)).not.toBe(store);
  });

  test('a session watched again in time keeps its store', async () => {
    const store = sessions.session(sessionId);
    sessions.watch(store)();
    await clock.advance(20_000);
    sessions.watch(store);
    await clock.advance(60_000);
    expect(sessions.session(sessionId)).toBe(store);
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
