import { expect, test } from 'vitest';
import type { EventView } from '@/live/view';
import { event, viewWith } from './fixture';
import { doingOf, isWaiting, nextWaiting, presentOf, progressOf, statusMark } from './present';

const call = (id: string) => ({ id, event_type: 'llm_tool_call' });

test('a finished session has nothing in progress', () => {
  for (const status of ['completed', 'failed', 'cancelled', 'timed_out'] as const) {
    const { view } = viewWith({ status }, [{}]);
    expect(presentOf(view)).toBeUndefined();
  }
});

test.each([
  ['pending', [], 'Queued.'],
  ['cancelling', [{ status: 'active' }], 'Cancelling: stopping the agents.'],
  ['in_progress', [], 'Starting.'],
  ['in_progress', [{ status: 'completed' }], 'Preparing the next stage.'],
  ['in_progress', [{ status: 'completed' }, { status: 'completed' }], 'Writing the summary.'],
  ['in_progress', [{ status: 'completed' }, { status: 'active' }], 'Starting the agents.'],
] as const)('status %s with stages %j shows: %s', (status, stages, words) => {
  const { view } = viewWith({ status, stage_count: 2 }, [...stages]);
  expect(presentOf(view)?.words).toBe(words);
});

test('every agent of the running stage has a line, even when it is done', () => {
  const { view } = viewWith({}, [
    { agents: { earlier: { events: [call('of an earlier stage')] } } },
    {
      status: 'active',
      agents: {
        a: { status: 'active', events: [call('a1'), call('a2')] },
        b: { status: 'active' },
        c: { status: 'completed', events: [call('c1')] },
      },
    },
  ]);
  const present = presentOf(view);
  expect(present?.words).toBe('');
  expect(present?.agents.map(({ name, status, eventId }) => [name, status, eventId])).toEqual([
    ['a', 'active', 'a2'],
    ['b', 'active', undefined],
    ['c', 'completed', 'c1'],
  ]);
});

test('a session waits while all its running agents wait for approval', () => {
  const one = { status: 'active', events: [call('a1')] };
  const other = { status: 'active', events: [call('b1')] };
  const { view } = viewWith({}, [{ status: 'active', agents: { one, other, done: { status: 'completed' } } }]);
  expect(isWaiting(view)).toBe(false);
  expect(isWaiting({ ...view, waiting: ['a1'] })).toBe(false);
  expect(isWaiting({ ...view, waiting: ['a1', 'b1'] })).toBe(true);
  const cancelling = { ...view.session, status: 'cancelling' as const };
  expect(isWaiting({ ...view, session: cancelling, waiting: ['a1', 'b1'] })).toBe(false);
});

test('nextWaiting moves through the waiting calls and wraps around', () => {
  expect(nextWaiting([], undefined)).toBeUndefined();
  expect(nextWaiting(['a', 'b'], undefined)).toBe('a');
  expect(nextWaiting(['a', 'b'], 'a')).toBe('b');
  expect(nextWaiting(['a', 'b'], 'b')).toBe('a');
  expect(nextWaiting(['a', 'b'], 'something else')).toBe('a');
});

test('an agent whose call needs approval is shown as waiting', () => {
  const asking = event('a', 'llm_tool_call', {
    status: 'streaming',
    metadata: {
      server_name: 'cluster',
      tool_name: 'scale',
      arguments: { replicas: 3 },
      approval: { status: 'waiting' },
    },
  });
  expect(doingOf(asking)).toEqual({ words: 'Waiting for approval of cluster.scale', detail: '' });
});

test.each([
  ['llm_tool_call', 'streaming', 'Calling cluster.get_log', 'pod: web-1'],
  ['llm_tool_call', 'completed', 'Reading the result of cluster.get_log', ''],
  ['llm_thinking', 'streaming', 'Thinking', 'The last line.'],
  ['llm_thinking', 'completed', 'Thinking', ''],
  ['llm_response', 'streaming', 'Writing', 'The last line.'],
  ['mcp_tool_summary', 'streaming', 'Summarizing a long result', ''],
  ['error', 'completed', 'Waiting for the model', ''],
])('an agent whose newest event is %s, %s, shows: %s', (event_type, status, words, detail) => {
  const parts: Partial<EventView> = {
    status: status as EventView['status'],
    content: 'The first line.\nThe last line.',
    metadata: { server_name: 'cluster', tool_name: 'get_log', arguments: { pod: 'web-1' } },
  };
  const doing = doingOf(event('e', event_type, parts));
  expect(doing).toEqual({ words, detail });
});

test('an agent without events is shown as starting', () => {
  expect(doingOf(undefined).words).toBe('Starting');
});

test('progress counts finished stages of the chain, not questions', () => {
  const running = viewWith({ stage_count: 3 }, [{}, { status: 'active', stage_name: 'synthesis' }]).view;
  expect(progressOf(running)).toEqual({ total: 3, done: 1, tone: 'running', label: 'stage 2 of 3: synthesis' });
  const asked = viewWith({ stage_count: 2, status: 'completed' }, [
    {},
    {},
    { stage_type: 'chat', status: 'active' },
  ]).view;
  expect(progressOf(asked)).toEqual({ total: 2, done: 2, tone: 'good', label: '2 of 2 stages done' });
});

test('progress of a failed session stops at the failed stage', () => {
  const { view } = viewWith({ status: 'failed', stage_count: 3 }, [{}, { status: 'failed', stage_name: 'root cause' }]);
  expect(progressOf(view)).toEqual({ total: 3, done: 1, tone: 'bad', label: 'stage 2 of 3: root cause' });
});

test('progress is zero before the first stage', () => {
  expect(progressOf(viewWith({ status: 'pending', stage_count: 1 }, []).view).label).toBe('0 of 1 stage done');
});

test('every status has its own symbol', () => {
  expect(statusMark('completed')).toBe('✓');
  expect(statusMark('in_progress')).toBe('●');
  expect(statusMark('failed')).toBe('✗');
});
