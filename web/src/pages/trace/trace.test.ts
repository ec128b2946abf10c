import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { LLMInteractionItem, MCPInteractionItem, Trace, TraceExecution, Usage } from '@/api/types';
import { shellQuote } from '@/text/shell';
import { align, chosen, sameJson, stepKey } from './compare';
import { barOf, rangeOf, ticksOf } from './geometry';
import { chatCommand, chatRequest, fetchCommand, plainJson, toolCommand } from './request';
import { type Call, callIndex, flatten, spanOf, statusOf } from './rows';
import { treeMove } from './tree';

const begin = Date.UTC(2026, 0, 1);
const usage: Usage = {
  input_tokens: 1,
  output_tokens: 1,
  thinking_tokens: 0,
  cached_tokens: 0,
  total_tokens: 2,
  cost_usd: 0.1,
  unpriced_tokens: 0,
};

function llm(
  id: string,
  endsAt: number,
  duration_ms: number,
  more: Partial<LLMInteractionItem> = {},
): LLMInteractionItem {
  return {
    id,
    interaction_type: 'iteration',
    provider: 'google',
    model_name: 'gemini',
    message_count: 2,
    usage,
    duration_ms,
    attempts: 1,
    stop_reason: 'end',
    error_code: '',
    error_message: '',
    created_at: new Date(begin + endsAt).toISOString(),
    ...more,
  };
}

function mcp(
  id: string,
  startsAt: number,
  duration_ms: number,
  more: Partial<MCPInteractionItem> = {},
): MCPInteractionItem {
  return {
    id,
    timeline_event_id: `event-${id}`,
    tool_call_id: id,
    server_name: 'kubernetes',
    tool_name: 'pods_list',
    status: 'completed',
    is_error: false,
    attempt: 1,
    read_only: true,
    duration_ms,
    error_message: '',
    created_at: new Date(begin + startsAt).toISOString(),
    completed_at: new Date(begin + startsAt + duration_ms).toISOString(),
    summarized: false,
    ...more,
  };
}

function execution(id: string, llms: LLMInteractionItem[], mcps: MCPInteractionItem[]): TraceExecution {
  return {
    execution_id: id,
    agent_name: `agent ${id}`,
    agent_index: 1,
    iteration_strategy: 'react',
    llm_provider: 'google',
    status: 'completed',
    usage,
    llm_interactions: llms,
    mcp_interactions: mcps,
  };
}

function traceOf(stages: TraceExecution[][], session: LLMInteractionItem[] = []): Trace {
  return {
    session_id: 's',
    version: 1,
    usage,
    session_interactions: session,
    stages: stages.map((executions, n) => ({
      stage_id: `stage-${n + 1}`,
      stage_name: `stage ${n + 1}`,
      stage_type: 'investigation',
      stage_index: n + 1,
      status: 'completed',
      usage,
      executions,
    })),
  };
}

const trace = traceOf(
  [
    [execution('a', [llm('l1', 1000, 1000), llm('l2', 3000, 500)], [mcp('m1', 1100, 300)])],
    [execution('b', [llm('l3', 5000, 900)], []), execution('c', [llm('l4', 5500, 1200)], [])],
  ],
  [llm('sum', 7000, 100, { interaction_type: 'executive_summary' })],
);
const ids = (closed: string[] = []) => flatten(trace, new Map(), new Set(closed)).map((row) => row.id);

describe('the rows of a trace', () => {
  test('stand as in the tree, calls in the order in which they began', () => {
    expect(ids()).toEqual(['stage-1', 'a', 'l1', 'm1', 'l2', 'stage-2', 'b', 'l3', 'c', 'l4', 'session', 'sum']);
    expect(flatten(trace, new Map(), new Set()).map((row) => [row.level, row.position, row.siblings])).toEqual([
      ...[
        [1, 1, 3],
        [2, 1, 1],
        [3, 1, 3],
        [3, 2, 3],
        [3, 3, 3],
      ],
      ...[
        [1, 2, 3],
        [2, 1, 2],
        [3, 1, 1],
        [2, 2, 2],
        [3, 1, 1],
      ],
      ...[
        [1, 3, 3],
        [2, 1, 1],
      ],
    ]);
  });

  test('what lies below a closed row is not there', () => {
    expect(ids(['stage-1', 'c', 'session'])).toEqual(['stage-1', 'stage-2', 'b', 'l3', 'c', 'session']);
  });

  test('an LLM call ends when it is written down, an MCP call begins then', () => {
    expect(spanOf({ kind: 'llm', item: llm('x', 1000, 400) })).toEqual({ start: begin + 600, end: begin + 1000 });
    expect(spanOf({ kind: 'mcp', item: mcp('x', 1000, 400) })).toEqual({ start: begin + 1000, end: begin + 1400 });
    const running = mcp('x', 1000, 0, { status: 'started', completed_at: null });
    expect(spanOf({ kind: 'mcp', item: running }).end).toBeUndefined();
  });

  test('a tool that answered with an error has failed', () => {
    expect(statusOf({ kind: 'mcp', item: mcp('x', 0, 1, { is_error: true }) })).toBe('failed');
    expect(statusOf({ kind: 'mcp', item: mcp('x', 0, 1, { status: 'unknown' }) })).toBe('unknown');
    expect(statusOf({ kind: 'llm', item: llm('x', 1, 1, { error_code: 'rate_limited' }) })).toBe('failed');
  });

  test('a stage lasts as long as the session says, or as its calls do', () => {
    const row = flatten(trace, new Map(), new Set())[0];
    expect(row?.span).toEqual({ start: begin, end: begin + 3000 });
    const known = { start: begin - 5, end: undefined };
    expect(flatten(trace, new Map([['stage-1', known]]), new Set())[0]?.span).toBe(known);
  });

  test('every call is found by its id', () => {
    expect([...callIndex(trace).keys()].sort()).toEqual(['l1', 'l2', 'l3', 'l4', 'm1', 'sum']);
  });

  test('arrow keys move as in every tree', () => {
    const rows = flatten(trace, new Map(), new Set(['c']));
    const at = (id: string) => rows.findIndex((row) => row.id === id);
    expect(treeMove(rows, at('l1'), 'ArrowDown')).toEqual({ to: at('m1') });
    expect(treeMove(rows, 0, 'ArrowUp')).toEqual({ to: 0 });
    expect(treeMove(rows, at('stage-1'), 'ArrowRight')).toEqual({ to: at('a') });
    expect(treeMove(rows, at('c'), 'ArrowRight')).toEqual({ toggle: 'c' });
    expect(treeMove(rows, at('l1'), 'ArrowRight')).toBeUndefined();
    expect(treeMove(rows, at('l2'), 'ArrowLeft')).toEqual({ to: at('a') });
    expect(treeMove(rows, at('a'), 'ArrowLeft')).toEqual({ toggle: 'a' });
    expect(treeMove(rows, at('c'), 'ArrowLeft')).toEqual({ to: at('stage-2') });
    expect(treeMove(rows, at('b'), 'End')).toEqual({ to: rows.length - 1 });
    expect(treeMove(rows, at('b'), 'Home')).toEqual({ to: 0 });
    expect(treeMove(rows, at('b'), 'x')).toBeUndefined();
    expect(treeMove([], 0, 'ArrowDown')).toBeUndefined();
  });
});

describe('the waterfall', () => {
  const span = fc.record({ start: fc.integer({ min: 0, max: 1e9 }), length: fc.option(fc.nat(1e9)) });

  test('every bar lies within the range of all, and calls that ran at once overlap', () => {
    fc.assert(
      fc.property(fc.array(span, { minLength: 1 }), fc.integer({ min: 0, max: 2e9 }), (spans, now) => {
        const rows = spans.map(({ start, length }) => ({
          span: { start, end: length === null ? undefined : start + length },
        }));
        const range = rangeOf(rows, now);
        const bars = rows.map((row) => barOf(row.span, range, now));
        for (const bar of bars) {
          expect(bar.left).toBeGreaterThanOrEqual(0);
          expect(bar.width).toBeGreaterThanOrEqual(0);
          expect(bar.left + bar.width).toBeLessThanOrEqual(100.000001);
        }
      }),
    );
    // A clock that runs ahead of the others does not push a bar out of the picture.
    expect(barOf({ start: -50, end: 300 }, { start: 0, end: 100 }, 0)).toEqual({ left: 0, width: 100 });
    const rows = flatten(trace, new Map(), new Set());
    const range = rangeOf(rows, 0);
    const bar = (id: string) => barOf(rows.find((row) => row.id === id)?.span ?? { start: 0, end: 0 }, range, 0);
    expect(bar('l4').left).toBeLessThan(bar('l3').left + bar('l3').width);
    expect(bar('l3').left).toBeLessThan(bar('l4').left + bar('l4').width);
  });

  test('the ruler has round marks, as many as there is room for', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e10 }), fc.integer({ min: 2, max: 12 }), (length, most) => {
        const ticks = ticksOf({ start: 7, end: 7 + length }, most);
        expect(ticks[0]).toEqual({ left: 0, at: 0 });
        expect(ticks.length).toBeLessThanOrEqual(most + 1);
        for (const tick of ticks) expect(tick.left).toBeLessThanOrEqual(100);
      }),
    );
    expect(ticksOf({ start: 0, end: 90_000 }, 6).map((tick) => tick.at)).toEqual([0, 30_000, 60_000, 90_000]);
  });

  test('a trace without calls has a range too', () => {
    expect(rangeOf([], 5)).toEqual({ start: 5, end: 6 });
  });
});

describe('a call as a command', () => {
  /** What a real shell makes of it. */
  function sh(command: string): string {
    return spawnSync('/bin/sh', ['-c', command], { encoding: 'utf8' }).stdout;
  }

  const hostile = [
    `'; touch /tmp/owned; '`,
    '$(id) `id` $HOME \\ " \' \n\r\t !!',
    "''''",
    '@/etc/passwd',
    '-o /tmp/x',
    '\u0000\u001b[2J\u009b31m\u202e\u2028',
    '\ud800 lone',
  ];

  test('quoting survives a shell, whatever is in it', () => {
    fc.assert(
      fc.property(fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: 'grapheme' })), (text) => {
        // A lone half of a character cannot be in a command line, which is UTF-8.
        const whole = text.replace(/\p{Surrogate}/gu, '?');
        expect(sh(`printf %s ${shellQuote(whole)}`)).toBe(whole.replaceAll('\0', ''));
      }),
      { numRuns: 60 },
    );
  });

  const messages = (content: string) => [
    { role: 'system', content: 'You help.', tool_calls: [], tool_call_id: '', tool_name: '' },
    { role: 'user', content, tool_calls: [], tool_call_id: '', tool_name: '' },
    {
      role: 'assistant',
      content: '',
      tool_calls: [{ id: '1', name: content, arguments: content }],
      tool_call_id: '',
      tool_name: '',
    },
    { role: 'tool', content, tool_calls: [], tool_call_id: '1', tool_name: content },
  ];
  /** Stands in for curl and prints the body that it was given. */
  const fakeCurl =
    'curl() { while [ $# -gt 0 ]; do if [ "$1" = --data-raw ]; then printf %s "$2"; fi; shift; done; }\n';

  test.each(hostile)('the body of a request arrives as it is: %j', (text) => {
    const call = { model_name: text, conversation: messages(text) };
    expect(JSON.parse(sh(fakeCurl + chatCommand(call)))).toEqual(JSON.parse(JSON.stringify(chatRequest(call))));
    const tool = { tool_name: text, tool_arguments: { [text]: [text] } };
    expect(JSON.parse(sh(fakeCurl + toolCommand(tool)))).toMatchObject({
      method: 'tools/call',
      params: { name: text, arguments: expect.anything() },
    });
  });

  test('nothing in it acts on a terminal', () => {
    const text = hostile.join('');
    const command = chatCommand({ model_name: text, conversation: messages(text) });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there.
    expect(command).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028-\u202e]/);
    expect(JSON.parse(plainJson({ text }))).toEqual({ text });
  });

  test('a conversation becomes the body of a chat request', () => {
    const { messages: sent } = chatRequest({ model_name: 'gemini', conversation: messages('hello') });
    expect(sent[2]).toEqual({
      role: 'assistant',
      content: null,
      tool_calls: [{ id: '1', type: 'function', function: { name: 'hello', arguments: 'hello' } }],
    });
    expect(sent[3]).toEqual({ role: 'tool', content: 'hello', tool_call_id: '1' });
  });

  test('the command that fetches a call names this server and takes the key from the environment', () => {
    expect(fetchCommand('https://tarsy.example', 'a/b', 'llm', "x'y")).toBe(
      `curl -H "Authorization: Bearer $TARSY_TOKEN" 'https://tarsy.example/api/v1/sessions/a%2Fb/trace/llm/x'\\''y'`,
    );
  });
});

describe('two executions side by side', () => {
  const tool = (id: string, tool_name: string): Call => ({ kind: 'mcp', item: mcp(id, 0, 1, { tool_name }) });
  const paired = (left: Call[], right: Call[]) =>
    align(left, right).map((pair) => [pair.left?.item.id, pair.right?.item.id]);

  test('a step that only one made does not move what follows', () => {
    const left = [tool('1', 'a'), tool('2', 'b'), tool('3', 'c')];
    const right = [tool('4', 'a'), tool('5', 'c')];
    expect(paired(left, right)).toEqual([
      ['1', '4'],
      ['2', undefined],
      ['3', '5'],
    ]);
  });

  test('steps that differ at the same place stand beside each other', () => {
    expect(paired([tool('1', 'a'), tool('2', 'b')], [tool('3', 'x'), tool('4', 'b')])).toEqual([
      ['1', '3'],
      ['2', '4'],
    ]);
  });

  test('every step of both is there once, in its order', () => {
    const steps = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 });
    fc.assert(
      fc.property(steps, steps, (one, other) => {
        const left = one.map((name, n) => tool(`l${n}`, name));
        const right = other.map((name, n) => tool(`r${n}`, name));
        const pairs = align(left, right);
        expect(pairs.flatMap((pair) => pair.left ?? [])).toEqual(left);
        expect(pairs.flatMap((pair) => pair.right ?? [])).toEqual(right);
        // The same steps find each other, however they are shifted.
        const same = pairs.filter((pair) => pair.left && pair.right && stepKey(pair.left) === stepKey(pair.right));
        if (one.join() === other.join()) expect(same).toHaveLength(one.length);
      }),
    );
  });

  test('arguments are the same whatever the order of their keys', () => {
    expect(sameJson({ a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 })).toBe(true);
    expect(sameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
    expect(sameJson(undefined, {})).toBe(false);
  });

  test('what the address names is compared, if it is of one stage', () => {
    const pair = (left?: string, right?: string) => {
      const found = chosen(trace, left, right);
      return found && [found.left.execution_id, found.right.execution_id];
    };
    expect(pair('b', 'c')).toEqual(['b', 'c']);
    expect(pair('c', 'b')).toEqual(['c', 'b']);
    expect(pair('b', 'b')).toEqual(['b', 'c']);
    expect(pair('b')).toEqual(['b', 'c']);
    expect(pair(undefined, 'b')).toEqual(['c', 'b']);
    expect(pair('c', 'a')).toEqual(['c', 'b']);
    expect(pair('a', 'x')).toBeUndefined();
    expect(pair()).toBeUndefined();
  });
});
