import { describe, expect, test } from 'vitest';
import type { NextStep, SessionDetail, Verdict } from '@/api/types';
import { begin, execution, llm, mcp, traceOf } from './fixture';
import {
  compareSteps,
  compareTools,
  compareVerdicts,
  inOrder,
  modelsOf,
  type Side,
  sessionTotals,
} from './session-compare';

const claim = (text: string) => ({ text, citations: [] });
const step = (title: string, command = ''): NextStep =>
  ({ title, why: claim(''), command, url: '', risk: 'low', reversible: true }) as NextStep;

function session(id: string, parts: Partial<SessionDetail> = {}): SessionDetail {
  return {
    id,
    status: 'completed',
    outcome: '',
    cause: '',
    verdict: null,
    rerun_of: null,
    created_at: new Date(begin).toISOString(),
    started_at: new Date(begin).toISOString(),
    completed_at: new Date(begin + 5000).toISOString(),
    ...parts,
  } as SessionDetail;
}

function concluded(outcome: string, cause: string, steps: NextStep[] = []): Partial<SessionDetail> {
  const verdict = {
    outcome,
    cause: claim(cause),
    confidence: 'high',
    confidence_reason: claim('Seen twice [call 1.1.1].'),
    impact: claim(''),
    next_steps: steps,
    not_checked: [],
  } as unknown as Verdict;
  return { outcome: outcome as SessionDetail['outcome'], cause, verdict };
}

describe('compared sessions', () => {
  const side = (one: SessionDetail): Side => ({ session: one, trace: traceOf([]) });

  test('are ordered by submission', () => {
    const first = side(session('a'));
    const later = { created_at: new Date(begin + 1).toISOString() };
    const again = side(session('b', { ...later, rerun_of: 'a' }));
    expect(inOrder(again, first)).toEqual({ left: first, right: again, names: ['Original', 'Re-run'] });
    expect(inOrder(first, again).left).toBe(first);
    const other = side(session('c', later));
    expect(inOrder(other, first).names).toEqual(['Earlier session', 'Later session']);
  });

  test('are compared by verdict, ignoring case, citations and line breaks', () => {
    const left = session('a', concluded('probable_cause', 'Out of memory [call 1.1.1].'));
    const right = session('b', concluded('cause_found', 'out of\nmemory.'));
    expect(compareVerdicts(left, right)).toEqual([
      { name: 'Outcome', left: 'Probable cause', right: 'Cause found', same: false },
      { name: 'Cause', left: 'Out of memory.', right: 'out of memory.', same: true },
      { name: 'Confidence', left: 'High', right: 'High', same: true },
      { name: 'Reason', left: 'Seen twice.', right: 'Seen twice.', same: true },
    ]);
  });

  test('are compared by status if they have no verdict', () => {
    expect(compareVerdicts(session('a', { status: 'failed' }), session('b'))).toEqual([
      { name: 'Outcome', left: 'Failed', right: 'Completed', same: false },
    ]);
  });

  test('share steps with the same command or title', () => {
    const left = session('a', concluded('cause_found', '', [step('Restart it', 'kubectl delete pod'), step('Wait')]));
    const right = session('b', concluded('cause_found', '', [step('Delete', 'kubectl  delete pod'), step('Page')]));
    expect(compareSteps(left, right).map(({ title, shared }) => [title, shared])).toEqual([
      ['Restart it', true],
      ['Wait', false],
    ]);
    expect(compareSteps(right, left).map(({ shared }) => shared)).toEqual([true, false]);
    expect(compareSteps(session('c'), left)).toEqual([]);
  });
});

describe('compared traces', () => {
  const tool = (id: string, tool_name: string, is_error = false) => mcp(id, 0, 1, { tool_name, is_error });
  const left = traceOf([
    [execution('a', [llm('l1', 10, 5)], [tool('1', 'pods'), tool('2', 'pods'), tool('3', 'log', true)])],
  ]);
  const right = traceOf(
    [[execution('b', [llm('l2', 10, 5)], [tool('4', 'pods'), tool('5', 'metrics'), tool('6', 'pods')])]],
    [llm('s', 20, 5, { model_name: 'small' })],
  );

  test('are compared by tool, tools of only one side first', () => {
    expect(compareTools(left, right).map(({ tool: name, left: a, right: b }) => [name, a, b])).toEqual([
      ['log', { calls: 1, failed: 1 }, { calls: 0, failed: 0 }],
      ['metrics', { calls: 0, failed: 0 }, { calls: 1, failed: 0 }],
      ['pods', { calls: 2, failed: 0 }, { calls: 2, failed: 0 }],
    ]);
  });

  test('have models, duration and counts', () => {
    expect(modelsOf(right)).toEqual(['gemini', 'small']);
    expect(sessionTotals({ session: session('a'), trace: left }, begin)).toMatchObject({
      duration: 5000,
      llmCalls: 1,
      toolCalls: 3,
      failedCalls: 1,
    });
    const running = session('b', { completed_at: null });
    expect(sessionTotals({ session: running, trace: right }, begin + 9000).duration).toBe(9000);
  });
});
