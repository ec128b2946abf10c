import { describe, expect, test } from 'vitest';
import { event } from '../fixture';
import { argumentsPreview, durationOf, lastLine, previewOf, toolCallFacts } from './preview';

describe('argumentsPreview', () => {
  test.each([
    [
      { namespace: 'checkout', limit: 50, deep: { a: [1, true, null] } },
      'namespace: checkout, limit: 50, deep: {a: [1, true, null]}',
    ],
    ['kubectl  get\npods', 'kubectl get pods'],
    [[1, 'two'], '[1, two]'],
    [{}, ''],
    [undefined, ''],
    [null, ''],
  ])('of %j', (value, line) => {
    expect(argumentsPreview(value)).toBe(line);
  });

  test('is one short line for any arguments', () => {
    let nested: unknown = 'end';
    for (let depth = 0; depth < 100_000; depth++) nested = [nested];
    const wide = Object.fromEntries(Array.from({ length: 10_000 }, (_, n) => [`key${n}`, 'x'.repeat(100)]));
    for (const value of [nested, { nested }, wide, 'y\n'.repeat(100_000), { ['k'.repeat(10_000)]: 1 }]) {
      const line = argumentsPreview(value);
      expect(line.length).toBeLessThanOrEqual(241);
      expect(line).not.toContain('\n');
    }
  });
});

describe('previewOf', () => {
  test('a response shows its first line with words', () => {
    expect(previewOf(event('a', 'llm_response', { content: '\n---\n## **Memory** is short\nmore' }))).toBe(
      'Memory is short',
    );
  });

  test('a streaming text shows its newest line', () => {
    const streaming = event('a', 'llm_thinking', { status: 'streaming', content: 'first\n\nsecond\n\n' });
    expect(previewOf(streaming)).toBe('second');
  });

  test('a call shows its arguments, not its result', () => {
    const call = event('a', 'llm_tool_call', { content: 'result', metadata: { arguments: { pod: 'api' } } });
    expect(previewOf(call)).toBe('pod: api');
  });

  test('code and searches show the code and the query', () => {
    expect(previewOf(event('a', 'code_execution', { content: '4', metadata: { code: 'print(2 + 2)' } }))).toBe(
      'print(2 + 2)',
    );
    expect(previewOf(event('a', 'google_search_result', { metadata: { queries: ['oom', 'cgroup', 7] } }))).toBe(
      'oom · cgroup',
    );
  });

  test('an unknown type shows its first line', () => {
    expect(previewOf(event('a', 'approval_asked', { content: 'May I drain node-7?' }))).toBe('May I drain node-7?');
  });
});

test('lastLine reads only the end of a long text', () => {
  expect(lastLine(`${'x'.repeat(100_000)}\nlast one\n`)).toBe('last one');
  expect(lastLine('')).toBe('');
});

describe('toolCallFacts', () => {
  test('reads the metadata', () => {
    const metadata = {
      call: '1.2.3',
      server_name: 'kubernetes',
      tool_name: 'get_pods',
      attempt: 2,
      result_tokens: 340,
      is_error: true,
      outcome: 'unknown',
    };
    expect(toolCallFacts(event('a', 'llm_tool_call', { metadata }))).toEqual({
      call: '1.2.3',
      server: 'kubernetes',
      tool: 'get_pods',
      attempt: 2,
      resultTokens: 340,
      failed: true,
      unknown: true,
    });
  });

  test('uses defaults without metadata', () => {
    expect(toolCallFacts(event('a', 'llm_tool_call', { metadata: { attempt: 'x', call: 7 } }))).toEqual({
      call: '',
      server: '',
      tool: 'unknown tool',
      attempt: 1,
      resultTokens: undefined,
      failed: false,
      unknown: false,
    });
  });
});

describe('durationOf', () => {
  test('is the duration of the tool, else the time from start to end', () => {
    const times = { created_at: '2030-01-01T00:00:00Z', completed_at: '2030-01-01T00:00:02Z' };
    expect(durationOf(event('a', 'llm_tool_call', { ...times, metadata: { duration_ms: 120 } }))).toBe(120);
    expect(durationOf(event('a', 'llm_response', times))).toBe(2000);
  });

  test('is undefined while running and for zero duration', () => {
    const now = '2030-01-01T00:00:00Z';
    expect(durationOf(event('a', 'llm_response', { status: 'streaming', completed_at: null }))).toBeUndefined();
    expect(durationOf(event('a', 'error', { created_at: now, completed_at: now }))).toBeUndefined();
  });
});
