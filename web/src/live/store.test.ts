import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Problem } from '@/api/problem';
import { FakeClock } from './fake/clock';
import { FakeServer } from './fake/server';
import { detailAt, journalOf, type Plan, sessionId, timelineAt } from './fake/story';
import { createSocket } from './socket';
import { createSessionStore, type StoreConfig } from './store';
import type { EventView, SessionView } from './view';

const previewLength = 8;

function plain(events: number, executions = 1): Plan {
  const list = Array.from({ length: events }, (_, n) => ({ content: `text ${n}`, whole: false }));
  return { stages: [{ events: Array.from({ length: executions }, () => list) }], chat: false };
}

function world(plan: Plan, version = 0, overrides: Partial<StoreConfig> = {}) {
  const clock = new FakeClock();
  const server = new FakeServer(clock, journalOf(plan), previewLength);
  server.version = version;
  const completed: { event: EventView; cut: boolean }[] = [];
  const store = createSessionStore({
    sessionId,
    socket: createSocket(server.env),
    clock,
    previewLength,
    detail: server.detail,
    timeline: server.timeline,
    event: server.event,
    completed: (event, cut) => completed.push({ event, cut }),
    ...overrides,
  });
  const view = (): SessionView => {
    const state = store.state();
    if (state.phase !== 'ready') throw new Error(`the session is ${state.phase}`);
    return state.view;
  };
  const freshness = () => {
    const state = store.state();
    return state.phase === 'ready' ? state.freshness.state : state.phase;
  };
  return { clock, server, store, view, freshness, completed };
}

/** Returns the event ids of a view by their place. */
function places(view: SessionView): Record<string, readonly string[]> {
  const lists: [string, readonly string[]][] = [['', view.events]];
  for (const stage of view.stages) {
    lists.push([stage.stage.id, stage.events]);
    for (const one of stage.executions) lists.push([one.execution.id, one.events]);
  }
  return Object.fromEntries(lists);
}

/** The part that must be the same for every reader; how much of a text is loaded may differ. */
function facts(event: EventView | undefined) {
  if (event === undefined) return undefined;
  const { content, truncated: _, metadata, ...rest } = event;
  return { ...rest, beginning: content.slice(0, previewLength - 1), call: metadata?.call };
}

/** Compares the view with the state after the whole journal. */
function expectUpToDate({ server, store, view }: ReturnType<typeof world>) {
  const { journal } = server;
  const detail = detailAt(journal, journal.length);
  const timeline = timelineAt(journal, journal.length).events;
  expect(view().session).toEqual(detail);
  expect(view().stages.map((stage) => stage.stage)).toEqual(detail.stages);
  const expected: Record<string, string[]> = Object.fromEntries(
    ['', ...detail.stages.flatMap((stage) => [stage.id, ...stage.executions.map((one) => one.id)])].map((id) => [
      id,
      [],
    ]),
  );
  for (const event of timeline) expected[event.execution_id ?? event.stage_id ?? '']?.push(event.id);
  expect(places(view())).toEqual(expected);
  expect(timeline.map((event) => facts(store.event(event.id)))).toEqual(timeline.map(facts));
  for (const event of timeline) {
    const { content = '', truncated } = store.event(event.id) ?? {};
    if (!truncated) expect(content).toBe(event.content);
  }
  const calls = timeline.flatMap((event) =>
    typeof event.metadata?.call === 'string' ? [[event.metadata.call, event.id]] : [],
  );
  expect(Object.fromEntries(view().calls)).toEqual(Object.fromEntries(calls));
}

const text = fc.string({ unit: 'binary', maxLength: 120 });
const planned: fc.Arbitrary<Plan> = fc.record({
  stages: fc.array(
    fc.record({
      events: fc.array(fc.array(fc.record({ content: text, whole: fc.boolean() }), { maxLength: 6 }), {
        minLength: 1,
        maxLength: 3,
      }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  chat: fc.boolean(),
});

type Move =
  | { move: 'commit'; count: number }
  | { move: 'write'; which: number; length: number; dropped: boolean }
  | { move: 'lose' | 'repeat'; count: number }
  | { move: 'wait' | 'latency'; ms: number }
  | { move: 'cut' | 'away' | 'save' | 'takeOver' | 'vanish' };

const moves: fc.Arbitrary<Move[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ move: fc.constant('commit' as const), count: fc.integer({ min: 1, max: 9 }) }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        move: fc.constant('write' as const),
        which: fc.nat(9),
        length: fc.integer({ min: 1, max: 12 }),
        dropped: fc.boolean(),
      }),
    },
    fc.record({ move: fc.constantFrom('lose' as const, 'repeat' as const), count: fc.integer({ min: 1, max: 9 }) }),
    {
      weight: 3,
      arbitrary: fc.record({ move: fc.constant('wait' as const), ms: fc.constantFrom(0, 1, 49, 60, 700, 2500) }),
    },
    fc.record({ move: fc.constant('latency' as const), ms: fc.constantFrom(0, 20, 400) }),
    fc.record({
      move: fc.constantFrom('cut' as const, 'away' as const, 'save' as const, 'takeOver' as const, 'vanish' as const),
    }),
  ),
  { maxLength: 40 },
);

/** Returns the next piece of an event's final text, after what was already written. */
function nextPiece(server: FakeServer, id: string, written: Map<string, number>, length: number): string {
  const end = server.journal.find((message) => message.type === 'timeline_event.completed' && message.event_id === id);
  const whole = end?.type === 'timeline_event.completed' ? end.content : '';
  const from = written.get(id) ?? 0;
  const piece = [...whole.slice(from)].slice(0, length).join('');
  written.set(id, from + piece.length);
  return piece;
}

async function play(it: ReturnType<typeof world>, script: readonly Move[]) {
  const { clock, server } = it;
  const written = new Map<string, number>();
  for (const step of script) {
    if (step.move === 'commit') server.commit(step.count);
    // A loss is noticed only with the next event. A server never loses the last event on an open connection: it reads
    // the journal.
    else if (step.move === 'lose') server.commit(step.count, server.version < server.journal.length - 1 ? 1 : 0);
    else if (step.move === 'repeat') server.repeat(step.count);
    else if (step.move === 'wait') await clock.advance(step.ms);
    else if (step.move === 'latency') server.latency = step.ms;
    else if (step.move === 'save') server.save();
    else if (step.move === 'cut') server.cut();
    else if (step.move === 'vanish') server.vanish();
    else if (step.move === 'takeOver') {
      server.takeOver();
      written.clear();
    } else if (step.move === 'away') {
      server.reachable = false;
      server.cut();
      await clock.advance(5_000);
      server.reachable = true;
    } else if (step.move === 'write') {
      const writing = server.writing();
      const id = writing[step.which % Math.max(1, writing.length)];
      if (id !== undefined) server.write(id, nextPiece(server, id, written, step.length), step.dropped);
    }
  }
}

describe('a watched session', () => {
  test('converges to the state of the server, whatever happens to the connection', async () => {
    await fc.assert(
      fc.asyncProperty(planned, fc.nat(200), moves, async (plan, loaded, script) => {
        const it = world(plan, Math.min(loaded, journalOf(plan).length));
        let broken = '';
        it.store.subscribe(() => {
          const state = it.store.state();
          if (state.phase !== 'ready') return;
          for (const ids of Object.values(places(state.view))) {
            const order = ids.map((id) => it.store.event(id)?.sequence_number ?? -1);
            if (order.some((number, n) => n > 0 && number <= (order[n - 1] ?? 0))) broken = `out of order: ${order}`;
          }
          const shown = Object.values(places(state.view)).flat();
          const all = timelineAt(it.server.journal, it.server.journal.length).events.map((event) => event.id);
          // The shown events are a prefix of the timeline: no event appears before an earlier one.
          if ([...shown].sort().join() !== all.slice(0, shown.length).sort().join())
            broken = `not a beginning: ${shown}`;
        });
        it.store.start();
        await play(it, script);
        it.server.commit(it.server.journal.length);
        await it.clock.advance(90_000);
        expect(broken).toBe('');
        expect(it.freshness()).toBe('live');
        expectUpToDate(it);
        it.store.stop();
        await it.clock.advance(2_000);
        expect(it.clock.pending).toBe(0);
      }),
      { numRuns: 100 },
    );
  }, 60_000);

  test('shows text up to the first gap and requests the missing text', async () => {
    const it = world(plain(1), 5);
    it.store.start();
    await it.clock.advance(100);
    const [id = ''] = it.server.writing();
    it.server.write(id, 'one ');
    await it.clock.advance(100);
    expect(it.store.event(id)).toMatchObject({ content: 'one ', truncated: false, status: 'streaming' });
    it.server.write(id, 'two ', true);
    it.server.write(id, 'three');
    await it.clock.advance(100);
    expect(it.store.event(id)).toMatchObject({ content: 'one ', content_length: 13, truncated: true });
    it.server.save();
    await it.clock.advance(400);
    expect(it.store.event(id)).toMatchObject({ content: 'one two three', content_length: 13, truncated: false });
    expect(it.server.asked.event).toBe(1);
  });

  test('loads a truncated streaming text in full', async () => {
    const it = world(plain(1), 5);
    const [id = ''] = it.server.writing();
    it.server.write(id, 'much more than a preview has');
    it.server.save();
    it.store.start();
    await it.clock.advance(1_000);
    expect(it.store.event(id)?.content).toBe('much more than a preview has');
  });

  test('notifies only the listeners of events that changed', async () => {
    const it = world(plain(1, 2), 7);
    it.store.start();
    await it.clock.advance(100);
    const [first = '', second = ''] = it.server.writing();
    const calls = { structure: 0, first: 0, second: 0 };
    it.store.subscribe(() => calls.structure++);
    it.store.subscribeEvent(first, () => calls.first++);
    it.store.subscribeEvent(second, () => calls.second++);
    const { state } = it.store;
    const before = state();
    for (let n = 0; n < 40; n++) {
      it.server.write(first, 'x');
      await it.clock.advance(5);
    }
    await it.clock.advance(50);
    expect(calls).toMatchObject({ structure: 0, second: 0 });
    // 200 ms of chunks, applied every 50 ms.
    expect(calls.first).toBeGreaterThanOrEqual(4);
    expect(calls.first).toBeLessThanOrEqual(6);
    expect(state()).toBe(before);
    expect(it.store.event(first)?.content).toBe('x'.repeat(40));
  });

  test('applies 10,000 events that arrive at once as one change', async () => {
    const it = world(plain(5_000));
    it.store.start();
    await it.clock.advance(100);
    let calls = 0;
    it.store.subscribe(() => calls++);
    it.server.commit(10_003);
    await it.clock.advance(60);
    expect(it.view().stages[0]?.executions[0]?.events).toHaveLength(5_000);
    // The events, and the SessionDetail after them.
    expect(calls).toBeLessThanOrEqual(2);
    expect(it.server.asked.timeline).toBe(1);
  });

  test('reloads after a catch-up overflow and continues from there', async () => {
    const it = world(plain(300));
    it.store.start();
    await it.clock.advance(100);
    it.server.cut();
    it.server.commit(400);
    it.server.latency = 30;
    await it.clock.advance(240);
    expect(it.freshness()).toBe('behind');
    it.server.commit(50);
    await it.clock.advance(60);
    expect(it.server.asked.timeline).toBe(2);
    expect(it.freshness()).toBe('live');
    it.server.commit(1_000);
    await it.clock.advance(5_000);
    expectUpToDate(it);
    expect(it.server.asked.timeline).toBe(2);
  });

  test('is behind from losing the connection until it has caught up', async () => {
    const it = world(plain(3), 3);
    it.store.start();
    await it.clock.advance(100);
    expect(it.freshness()).toBe('live');
    it.server.reachable = false;
    const lostAt = it.clock.now();
    it.server.cut();
    expect(it.store.state()).toMatchObject({
      freshness: { state: 'behind', reason: 'connecting', since: new Date(lostAt) },
    });
    await it.clock.advance(10_000);
    it.server.reachable = true;
    it.server.latency = 500;
    it.server.wake();
    await it.clock.advance(100);
    expect(it.store.state()).toMatchObject({
      freshness: { state: 'behind', reason: 'catching-up', since: new Date(lostAt) },
    });
    await it.clock.advance(500);
    expect(it.freshness()).toBe('live');
  });

  test('requests a missing event once, and later events wait for it', async () => {
    const it = world(plain(5), 4);
    it.store.start();
    await it.clock.advance(100);
    it.server.commit(4, 1);
    it.server.commit(1);
    const asked = () => it.server.commands.filter((command) => command.action === 'catchup');
    await it.clock.advance(60);
    expect(asked()).toEqual([{ action: 'catchup', channel: `session:${sessionId}`, last_event_id: 4 }]);
    await it.clock.advance(60);
    expect(it.freshness()).toBe('live');
    expect(asked()).toHaveLength(1);
    it.server.commit(100);
    await it.clock.advance(5_000);
    expectUpToDate(it);
  });

  test('requests the SessionDetail every two seconds while events arrive', async () => {
    const it = world(plain(100), 3);
    it.store.start();
    await it.clock.advance(100);
    const before = it.server.asked.detail;
    for (let n = 0; n < 100; n++) {
      it.server.commit(1);
      await it.clock.advance(100);
    }
    expect(it.server.asked.detail - before).toBeLessThanOrEqual(6);
    await it.clock.advance(3_000);
    const settled = it.server.asked.detail;
    expect(it.view().session.usage.total_tokens).toBe(it.server.version);
    await it.clock.advance(60_000);
    expect(it.server.asked.detail).toBe(settled);
  });

  test('shows the complete end of the session immediately', async () => {
    const it = world(plain(1));
    it.store.start();
    it.server.commit(it.server.journal.length - 1);
    await it.clock.advance(100);
    it.server.commit(1);
    await it.clock.advance(250);
    expectUpToDate(it);
  });

  test('ignores repeated events', async () => {
    const it = world(plain(3), 3);
    it.store.start();
    await it.clock.advance(100);
    it.server.commit(100);
    await it.clock.advance(5_000);
    const before = it.store.state();
    it.server.repeat(100);
    await it.clock.advance(5_000);
    expect(it.store.state()).toBe(before);
  });

  test('keeps a long final text as a preview and passes it on in full', async () => {
    const long = `${'x'.repeat(previewLength - 1)}😀${'y'.repeat(previewLength * 10)}`;
    const plan: Plan = {
      stages: [
        {
          events: [
            [
              { content: long, whole: false },
              { content: 'short', whole: false },
            ],
          ],
        },
      ],
      chat: false,
    };
    const it = world(plan, 3);
    it.store.start();
    await it.clock.advance(100);
    it.server.commit(100);
    await it.clock.advance(100);
    expect(it.store.event('stage-1-1-0')).toMatchObject({
      content: 'x'.repeat(previewLength - 1),
      content_length: long.length,
      truncated: true,
    });
    expect(it.completed.map(({ event, cut }) => [event.content, cut])).toEqual([
      [long, true],
      ['short', false],
      ['In short.', false],
    ]);
  });

  test('tolerates chunks before the start and after the end of their event', async () => {
    const it = world(plain(1), 3);
    it.store.start();
    await it.clock.advance(100);
    it.server.commit(1);
    it.server.write('stage-1-1-0', 'early');
    await it.clock.advance(60);
    it.server.commit(1);
    await it.clock.advance(60);
    expect(it.store.event('stage-1-1-0')?.content).toBe('early');
    it.server.commit(1);
    it.server.write('stage-1-1-0', ' late');
    await it.clock.advance(60);
    expect(it.store.event('stage-1-1-0')).toMatchObject({ content: 'text 0', status: 'completed' });
  });

  test('reports why loading failed, and retries if that may help', async () => {
    const it = world(plain(1), 3);
    it.server.reachable = false;
    it.store.start();
    await it.clock.advance(10);
    expect(it.store.state()).toMatchObject({ phase: 'failed', problem: { code: 'unreachable' } });
    it.server.reachable = true;
    await it.clock.advance(10_000);
    expect(it.freshness()).toBe('live');
  });

  test('does not request a missing session again until a reload', async () => {
    let asked = 0;
    const problem = new Problem({
      status: 404,
      code: 'session_not_found',
      title: 'Not found',
      detail: 'There is none.',
    });
    const it = world(plain(1), 3, {
      detail: () => {
        asked++;
        return Promise.reject(problem);
      },
    });
    it.store.start();
    await it.clock.advance(60_000);
    expect(it.store.state()).toEqual({ phase: 'failed', problem });
    expect(asked).toBe(1);
    it.store.reload();
    expect(it.store.state()).toEqual({ phase: 'loading' });
    await it.clock.advance(10);
    expect(asked).toBe(2);
  });

  test('follows a server that has lost events from its current position', async () => {
    const it = world(plain(5), 9);
    it.store.start();
    await it.clock.advance(100);
    it.server.version = 4;
    it.server.cut();
    await it.clock.advance(5_000);
    expect(it.freshness()).toBe('live');
    it.server.commit(100);
    await it.clock.advance(5_000);
    expectUpToDate(it);
  });

  test('does nothing after a stop, and can be restarted', async () => {
    const it = world(plain(5), 4);
    it.store.start();
    await it.clock.advance(100);
    it.store.stop();
    await it.clock.advance(2_000);
    expect(it.clock.pending).toBe(0);
    it.server.commit(100);
    it.store.start();
    await it.clock.advance(5_000);
    expectUpToDate(it);
  });
});
