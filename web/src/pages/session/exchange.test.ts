import { expect, test } from 'vitest';
import { evidenceOf, exchangesOf, finalAnalysisOf, isAnswering, refusalsOf } from './exchange';
import { Events, session, viewWith } from './fixture';

const event = (event_type: string, id: string) => ({ event_type, id });

test('each chat stage is one question with its answer, in order', () => {
  const { view, lookup } = viewWith({ status: 'completed' }, [
    { agents: { a: { events: [event('final_analysis', 'the analysis')] } } },
    {
      stage_type: 'chat',
      agents: {
        chat: {
          events: [
            event('user_question', 'q1'),
            event('llm_thinking', 't1'),
            event('llm_tool_call', 'c1'),
            event('llm_tool_call', 'c2'),
            event('llm_response', 'r1'),
            event('final_analysis', 'a1'),
          ],
        },
      },
    },
    { stage_type: 'chat', status: 'active', agents: { chat: { events: [event('user_question', 'q2')] } } },
  ]);
  expect(exchangesOf(view, lookup)).toEqual([
    {
      stageId: 'stage-2',
      status: 'completed',
      question: 'q1',
      answer: 'a1',
      answered: true,
      thoughts: { count: 1, first: 't1' },
      toolCalls: { count: 2, first: 'c1' },
      problem: '',
      sequence: 2,
    },
    {
      stageId: 'stage-3',
      status: 'active',
      question: 'q2',
      answer: undefined,
      answered: false,
      thoughts: { count: 0, first: undefined },
      toolCalls: { count: 0, first: undefined },
      problem: '',
      sequence: 8,
    },
  ]);
  expect(isAnswering(view)).toBe(true);
});

test('the newest response is shown until the answer is final', () => {
  const { view, lookup } = viewWith({ status: 'completed' }, [
    {
      stage_type: 'chat',
      status: 'active',
      agents: {
        chat: { events: [event('user_question', 'q'), event('llm_response', 'r1'), event('llm_response', 'r2')] },
      },
    },
  ]);
  expect(exchangesOf(view, lookup)[0]).toMatchObject({ answer: 'r2', answered: false });
});

test('a failed answer has the error message', () => {
  const { view, lookup } = viewWith({ status: 'completed' }, [
    { stage_type: 'chat', status: 'failed', error_message: 'the model did not answer', agents: { chat: {} } },
  ]);
  expect(exchangesOf(view, lookup)[0]?.problem).toBe('the model did not answer');
  expect(isAnswering(view)).toBe(false);
});

test('refused questions are found by their message id', () => {
  const events = new Events();
  const ids = [
    events.add('refused', 'error', {
      content: 'The question cannot be answered.',
      metadata: { code: 'question_refused', message_id: 'm1' },
    }),
    events.add('other', 'error', { content: 'The runbook is unreachable.', metadata: { code: 'runbook_unreachable' } }),
    events.add('summary', 'executive_summary'),
  ];
  expect(refusalsOf(session([], ids), events.lookup)).toMatchObject([
    { messageId: 'm1', reason: 'The question cannot be answered.', sequence: 1 },
  ]);
});

test('a running investigation is not an answer', () => {
  const { view, lookup } = viewWith({}, [{ status: 'active' }]);
  expect(isAnswering(view)).toBe(false);
  expect(exchangesOf(view, lookup)).toEqual([]);
});

test('the final analysis comes from the last stage that has one, not from chat', () => {
  const { view, lookup } = viewWith({ status: 'completed' }, [
    {
      agents: { a: { events: [event('final_analysis', 'first')] }, b: { events: [event('final_analysis', 'second')] } },
    },
    {
      stage_type: 'synthesis',
      agents: { s: { events: [event('final_analysis', 'synthesis'), event('llm_response', 'x')] } },
    },
    { stage_type: 'chat', agents: { chat: { events: [event('final_analysis', 'answer')] } } },
  ]);
  expect(finalAnalysisOf(view, lookup)?.id).toBe('synthesis');
});

test('evidence counts cited and unknown calls, and is empty without citations', () => {
  const { lookup } = viewWith({}, [
    {
      agents: {
        a: {
          events: [
            {
              id: 'checked',
              metadata: { citations: [{ call: '1.1.1', event_id: 'e' }], unknown_citations: ['9.9.9', 7] },
            },
            { id: 'bare' },
          ],
        },
      },
    },
  ]);
  expect(evidenceOf(lookup('checked'))).toEqual({ cited: 1, unknown: ['9.9.9'] });
  expect(evidenceOf(lookup('bare'))).toEqual({ cited: 0, unknown: [] });
  expect(evidenceOf(undefined)).toEqual({ cited: 0, unknown: [] });
});
