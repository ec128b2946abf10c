import { beforeEach, describe, expect, test } from 'vitest';
import { FakeClock } from './fake/clock';
import { FakeServer } from './fake/server';
import { journalOf, sessionId } from './fake/story';
import { createSocket, type Socket, type Subscriber } from './socket';

const channel = `session:${sessionId}`;
const plan = { stages: [{ events: [[{ content: 'text', whole: false }]] }], chat: false };

let clock: FakeClock;
let server: FakeServer;
let socket: Socket;

beforeEach(() => {
  clock = new FakeClock();
  server = new FakeServer(clock, journalOf(plan));
  socket = createSocket(server.env);
});

function follower(position: () => number = () => 0) {
  const heard: string[] = [];
  const subscriber: Subscriber = {
    position,
    received: (message) => heard.push(message.type),
    confirmed: () => heard.push('confirmed'),
    lost: () => heard.push('lost'),
    refused: (code) => heard.push(code),
  };
  return { subscriber, heard };
}

describe('the socket', () => {
  test('opens with the first subscriber and closes after the last', async () => {
    expect(server.wires).toBe(0);
    const { subscriber, heard } = follower();
    const subscription = socket.subscribe(channel, subscriber);
    await clock.advance(10);
    expect(socket.state()).toBe('open');
    expect(heard).toEqual(['confirmed']);
    subscription.end();
    await clock.advance(500);
    expect(socket.state()).toBe('open');
    await clock.advance(1000);
    expect(socket.state()).toBe('connecting');
    expect(clock.pending).toBe(0);
  });

  test('subscribes to a channel once and unsubscribes with the last subscriber', async () => {
    const ends = [1, 2, 3].map(() => socket.subscribe('sessions', follower().subscriber));
    await clock.advance(10);
    const late = follower();
    ends.push(socket.subscribe('sessions', { ...late.subscriber, position: undefined }));
    expect(late.heard).toEqual(['confirmed']);
    expect(server.commands.filter((command) => command.action === 'subscribe')).toHaveLength(1);
    for (const subscription of ends.slice(1)) subscription.end();
    expect(server.commands.some((command) => command.action === 'unsubscribe')).toBe(false);
    ends[0]?.end();
    expect(server.commands.at(-1)).toEqual({ action: 'unsubscribe', channel: 'sessions' });
  });

  test('reconnects and continues at the position of its subscriber', async () => {
    let position = 0;
    const { subscriber, heard } = follower(() => position);
    socket.subscribe(channel, subscriber);
    await clock.advance(10);
    server.commit(3);
    position = 3;
    server.cut();
    expect(socket.state()).toBe('lost');
    expect(heard.at(-1)).toBe('lost');
    server.commit(1);
    await clock.advance(400);
    expect(socket.state()).toBe('open');
    expect(server.commands.at(-1)).toEqual({ action: 'subscribe', channel, last_event_id: 3 });
    expect(heard.slice(-2)).toEqual(['confirmed', server.journal[3]?.type]);
  });

  test('reports a logout instead of reconnecting when the login has ended', async () => {
    const { subscriber, heard } = follower();
    socket.subscribe(channel, subscriber);
    await clock.advance(10);
    server.cut(1001);
    await clock.advance(400);
    expect([socket.state(), server.loggedOut]).toEqual(['open', 0]);
    const wires = server.wires;
    server.cut(4401);
    expect(server.loggedOut).toBe(1);
    expect([socket.state(), heard.at(-1)]).toEqual(['lost', 'lost']);
    await clock.advance(60_000);
    server.wake();
    expect(server.wires).toBe(wires);
  });

  test('checks the login after a connection that never opened', async () => {
    socket.subscribe(channel, follower().subscriber);
    await clock.advance(10);
    expect(server.loginChecks).toBe(0);
    server.reachable = false;
    server.cut();
    expect(server.loginChecks).toBe(0);
    await clock.advance(5_000);
    expect(server.loginChecks).toBe(server.wires - 1);
    expect(server.loginChecks).toBeGreaterThan(1);
  });

  test('backs off up to ten seconds, and resets after a success', async () => {
    server.reachable = false;
    socket.subscribe('sessions', follower().subscriber);
    await clock.advance(1);
    expect(socket.state()).toBe('lost');
    const times: number[] = [];
    for (let wires = server.wires; times.length < 8; ) {
      const began = clock.now();
      while (server.wires === wires) await clock.advance(1);
      wires = server.wires;
      times.push(clock.now() - began);
      await clock.advance(1);
    }
    // With a random number of 0.5, each delay is three quarters of its maximum.
    expect(times.slice(0, 4)).toEqual([225, 450, 900, 1800].map((ms) => expect.closeTo(ms, -1)));
    expect(Math.max(...times)).toBeLessThanOrEqual(7500);
    expect(times.at(-1)).toBeGreaterThan(7400);
    server.reachable = true;
    await clock.advance(8000);
    expect(socket.state()).toBe('open');
    server.cut();
    await clock.advance(230);
    expect(socket.state()).toBe('open');
  });

  test('retries immediately on wake-up', async () => {
    server.reachable = false;
    socket.subscribe('sessions', follower().subscriber);
    await clock.advance(30_000);
    server.reachable = true;
    const before = server.wires;
    server.wake();
    expect(server.wires).toBe(before + 1);
    await clock.advance(2);
    expect(socket.state()).toBe('open');
  });

  test('reconnects after an unanswered ping', async () => {
    socket.subscribe('sessions', follower().subscriber);
    await clock.advance(25_000);
    expect(server.commands.filter((command) => command.action === 'ping')).toHaveLength(1);
    expect(socket.state()).toBe('open');
    server.answers = false;
    await clock.advance(24_000);
    expect(socket.state()).toBe('open');
    await clock.advance(2_000);
    expect(server.wires).toBe(2);
  });

  test('detects a dead connection within seconds of a wake-up', async () => {
    socket.subscribe('sessions', follower().subscriber);
    await clock.advance(10);
    server.vanish();
    server.wake();
    await clock.advance(3_000);
    expect(socket.state()).toBe('lost');
  });

  test('gives up a connection that does not open', async () => {
    const stuck = createSocket({ ...server.env, connect: () => ({ send: () => {}, close: () => {} }) });
    stuck.subscribe('sessions', follower().subscriber);
    await clock.advance(9_999);
    expect(stuck.state()).toBe('connecting');
    await clock.advance(1);
    expect(stuck.state()).toBe('lost');
  });

  test('ignores frames that are not messages', async () => {
    let received: (text: string) => void = () => {};
    const odd = createSocket({
      ...server.env,
      connect: (events) => {
        received = events.received;
        clock.after(1, events.opened);
        return { send: () => {}, close: () => {} };
      },
    });
    const { subscriber, heard } = follower();
    odd.subscribe(channel, subscriber);
    await clock.advance(1);
    for (const text of ['', '{', 'null', '[]', '{"type":1}', '{"type":"pong"}', '{"type":"x","channel":"other"}'])
      received(text);
    expect(heard).toEqual([]);
  });

  test('reports a refusal to the subscribers of its channel', async () => {
    const { subscriber, heard } = follower(() => 99);
    socket.subscribe(channel, subscriber);
    await clock.advance(10);
    expect(heard).toEqual(['invalid_parameter']);
  });
});
