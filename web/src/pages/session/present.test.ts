import { expect, test } from 'vitest';
import { viewWith } from './fixture';
import { presentOf, progressOf, statusMark } from './present';

const call = (id: string) => ({ id, event_type: 'llm_tool_call' });

test('a session that is over does nothing', () => {
  for (const status of ['completed', 'failed', 'cancelled', 'timed_out'] as const) {
    const { view, lookup } = viewWith({ status }, [{}]);
    expect(presentOf(view, lookup)).toBeUndefined();
  }
});

test.each([
  ['pending', [], 'Queued.'],
  ['cancelling', [{ status: 'active' }], 'Cancelling: stopping the agents.'],
  ['in_progress', [], 'Starting.'],
  ['in_progress', [{ status: 'completed' }], 'Preparing the next stage.'],
  ['in_progress', [{ status: 'completed' }, { status: 'completed' }], 'Writing the summary.'],
  [
    'in_progress',
    [{ status: 'completed' }, { status: 'active', stage_name: 'root cause' }],
    'Stage 2 of 2: root cause.',
  ],
] as const)('%s with %j says: %s', (status, stages, words) => {
  const { view, lookup } = viewWith({ status, stage_count: 2 }, [...stages]);
  expect(presentOf(view, lookup)?.words).toBe(words);
});

test('names the agents that run and the newest tool call among them', () => {
  const { view, lookup } = viewWith({}, [
    { agents: { earlier: { events: [call('of an earlier stage')] } } },
    {
      status: 'active',
      agents: {
        a: { status: 'active', events: [call('a1'), { event_type: 'llm_response' }] },
        b: { status: 'active', events: [call('b1'), call('b2'), { event_type: 'llm_thinking' }] },
        c: { status: 'completed' },
      },
    },
  ]);
  expect(presentOf(view, lookup)).toEqual({
    words: 'Stage 2 of 2: investigation.',
    agents: ['a', 'b'],
    toolEvent: 'b2',
  });
});

test('a stage without tool calls names none', () => {
  const { view, lookup } = viewWith({}, [{ status: 'active', agents: { a: { status: 'active', events: [{}] } } }]);
  expect(presentOf(view, lookup)?.toolEvent).toBeUndefined();
});

test('progress counts finished stages of the chain, and no questions', () => {
  const running = viewWith({ stage_count: 3 }, [{}, { status: 'active', stage_name: 'synthesis' }]).view;
  expect(progressOf(running)).toEqual({ total: 3, done: 1, tone: 'running', label: 'stage 2 of 3: synthesis' });
  const asked = viewWith({ stage_count: 2, status: 'completed' }, [
    {},
    {},
    { stage_type: 'chat', status: 'active' },
  ]).view;
  expect(progressOf(asked)).toEqual({ total: 2, done: 2, tone: 'good', label: '2 of 2 stages done' });
});

test('progress of a session that failed stops at the stage that failed', () => {
  const { view } = viewWith({ status: 'failed', stage_count: 3 }, [{}, { status: 'failed', stage_name: 'root cause' }]);
  expect(progressOf(view)).toEqual({ total: 3, done: 1, tone: 'bad', label: 'stage 2 of 3: root cause' });
});

test('progress before the first stage is nothing', () => {
  expect(progressOf(viewWith({ status: 'pending', stage_count: 1 }, []).view).label).toBe('0 of 1 stage done');
});

test('every status has its mark', () => {
  expect(statusMark('completed')).toBe('✓');
  expect(statusMark('in_progress')).toBe('●');
  expect(statusMark('failed')).toBe('✗');
});
