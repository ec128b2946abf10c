import { describe, expect, test } from 'vitest';
import { firstArgument } from './argument';
import { callIndex } from './calls';
import { countsOf, searchRows, shownRows } from './filter';
import { execution, llm, mcp, traceOf } from './fixture';
import { callToOpen } from './opened';
import { rowsOf } from './rows';
import { readTraceSearch, type TraceFilter } from './search';

const given: Record<string, unknown> = { 'event-pods': { namespace: 'shop', limit: 5 }, 'event-log': { pod: 'web-1' } };
const lookup = (id: string) =>
  ({ metadata: given[id] === undefined ? null : { arguments: given[id] } }) as ReturnType<Parameters<typeof rowsOf>[2]>;

const trace = traceOf(
  [
    [
      execution('a', [llm('l1', 1000, 1000)], [mcp('pods', 1100, 300, { tool_name: 'get_pods' })]),
      {
        ...execution('b', [llm('l2', 9000, 7000)], [mcp('log', 9100, 10, { tool_name: 'get_log', is_error: true })]),
        agent_name: 'Quick',
      },
    ],
  ],
  [llm('sum', 12_000, 100, { interaction_type: 'executive_summary' })],
);
const rows = rowsOf(trace, new Map(), lookup);

function shown(filter: TraceFilter, closed: string[] = []): string[] {
  const found = searchRows(rows, filter.search, lookup);
  return shownRows(rows, filter, new Set(closed), found).map(({ row }) => row.id);
}

describe('the trace filter', () => {
  test('keeps matching rows and their parents', () => {
    expect(shown({ kind: ['tool'] })).toEqual(['stage-1', 'a', 'pods', 'b', 'log']);
    expect(shown({ kind: ['llm'] })).toEqual(['stage-1', 'a', 'l1', 'b', 'l2', 'session', 'sum']);
    expect(shown({ kind: ['stage'] })).toEqual(['stage-1', 'session']);
    expect(shown({ kind: ['agent'] })).toEqual(['stage-1', 'a', 'b']);
    expect(shown({ failed: true })).toEqual(['stage-1', 'b', 'log']);
    expect(shown({ kind: ['llm'], failed: true })).toEqual([]);
  });

  test('searches names, arguments, call numbers and parents', () => {
    expect(shown({ search: 'namespace=shop' })).toEqual(['stage-1', 'a', 'pods']);
    // Not the first argument.
    expect(shown({ search: 'limit' })).toEqual(['stage-1', 'a', 'pods']);
    expect(shown({ search: '1.2.1' })).toEqual(['stage-1', 'b', 'log']);
    expect(shown({ search: 'quick' })).toEqual(['stage-1', 'b', 'l2', 'log']);
    expect(shown({ search: 'quick', kind: ['tool'] })).toEqual(['stage-1', 'b', 'log']);
    expect(shown({ search: 'nothing has this' })).toEqual([]);
  });

  test('omits rows below a closed row', () => {
    expect(shown({ kind: ['tool'] }, ['a'])).toEqual(['stage-1', 'a', 'b', 'log']);
    expect(shown({ kind: ['tool'] }, ['stage-1'])).toEqual(['stage-1']);
  });

  test('numbers rows among their visible siblings', () => {
    const placed = shownRows(rows, { kind: ['tool'] }, new Set(), () => true);
    expect(placed.map(({ position, siblings }) => [position, siblings])).toEqual([
      [1, 1],
      [1, 2],
      [1, 1],
      [2, 2],
      [1, 1],
    ]);
  });

  test('counts what each option would show', () => {
    const counts = (filter: TraceFilter) => countsOf(rows, filter, searchRows(rows, filter.search, lookup));
    expect(counts({})).toEqual({
      kinds: { stage: 2, agent: 2, llm: 3, tool: 2, gap: 0 },
      failed: 1,
      fitting: 9,
      all: 9,
    });
    expect(counts({ kind: ['llm'] })).toMatchObject({ kinds: { tool: 2, llm: 3 }, failed: 0, fitting: 3 });
    expect(counts({ search: 'get_' })).toMatchObject({ kinds: { tool: 2, llm: 0 }, failed: 1, fitting: 2 });
  });

  test('is read from the address, ignoring unknown values', () => {
    const filter = ({ kind, failed, search }: TraceFilter) => ({ kind, failed, search });
    expect(filter(readTraceSearch({ kind: 'tool,llm', failed: 'true', search: 'x' }))).toEqual({
      kind: ['llm', 'tool'],
      failed: true,
      search: 'x',
    });
    const nothing = { kind: undefined, failed: undefined, search: undefined };
    expect(filter(readTraceSearch({ kind: 'nonsense', failed: 'no', search: '' }))).toEqual(nothing);
    expect(filter(readTraceSearch({}))).toEqual(nothing);
  });
});

describe('a tool call row', () => {
  test('shows its number and first argument', () => {
    const texts = rows.flatMap((row) => (row.kind === 'mcp' ? [`${row.number} ${row.label} ${row.argument}`] : []));
    expect(texts).toEqual(['1.1.1 get_pods namespace=shop', '1.2.1 get_log pod=web-1']);
  });

  test.each([
    [{ namespace: 'shop', pod: 'web' }, 'namespace=shop'],
    [{ selector: { app: 'web' } }, 'selector={app: web}'],
    [{ names: ['a', 'b'] }, 'names=[a, b]'],
    [{ limit: 0 }, 'limit=0'],
    [{ since: null }, 'since=null'],
    ['kubectl\nget pods', 'kubectl get pods'],
    [{}, ''],
    [undefined, ''],
  ])('%j is shown as %j', (value, line) => {
    expect(firstArgument(value)).toBe(line);
  });

  test('stays short for any argument', () => {
    expect(firstArgument({ ['k'.repeat(10_000)]: 'v'.repeat(10_000) }).length).toBeLessThan(400);
  });
});

describe('the initially open call', () => {
  test('is the first failed call', () => {
    expect(callToOpen(callIndex(trace))).toEqual({ id: 'log', reason: 'failed' });
    const cut = traceOf([[execution('a', [], [mcp('m', 0, 1, { status: 'unknown' }), mcp('n', 1, 9)])]]);
    expect(callToOpen(callIndex(cut))).toEqual({ id: 'm', reason: 'failed' });
  });

  test('is the slowest finished call if none failed', () => {
    const fine = traceOf([
      [execution('a', [llm('l1', 1000, 1000)], [mcp('m', 0, 1500), mcp('now', 0, 9000, { status: 'started' })])],
    ]);
    expect(callToOpen(callIndex(fine))).toEqual({ id: 'm', reason: 'slowest' });
    expect(callToOpen(callIndex(traceOf([])))).toBeUndefined();
  });
});
