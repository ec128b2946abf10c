import { describe, expect, test } from 'vitest';
import { callIndex, spanOf, statusOf } from './calls';
import { shownRows } from './filter';
import { begin, llm, mcp, trace } from './fixture';
import { rowsOf } from './rows';
import { treeMove } from './tree';

const nothing = () => undefined;
const shown = (closed: string[] = []) => shownRows(rowsOf(trace, new Map(), nothing), {}, new Set(closed), () => true);
const ids = (closed: string[] = []) => shown(closed).map(({ row }) => row.id);

describe('trace rows', () => {
  test('are in tree order, with calls by start time', () => {
    expect(ids()).toEqual(['stage-1', 'a', 'l1', 'm1', 'l2', 'stage-2', 'b', 'l3', 'c', 'l4', 'session', 'sum']);
    expect(shown().map(({ row, position, siblings }) => [row.level, position, siblings])).toEqual([
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

  test('below a closed row are omitted', () => {
    expect(ids(['stage-1', 'c', 'session'])).toEqual(['stage-1', 'stage-2', 'b', 'l3', 'c', 'session']);
  });

  test('an LLM call is recorded when it ends, an MCP call when it starts', () => {
    expect(spanOf({ kind: 'llm', item: llm('x', 1000, 400) })).toEqual({ start: begin + 600, end: begin + 1000 });
    expect(spanOf({ kind: 'mcp', item: mcp('x', 1000, 400) })).toEqual({ start: begin + 1000, end: begin + 1400 });
    const running = mcp('x', 1000, 0, { status: 'started', completed_at: null });
    expect(spanOf({ kind: 'mcp', item: running }).end).toBeUndefined();
  });

  test('a tool result with an error is a failed call', () => {
    expect(statusOf({ kind: 'mcp', item: mcp('x', 0, 1, { is_error: true }) })).toBe('failed');
    expect(statusOf({ kind: 'mcp', item: mcp('x', 0, 1, { status: 'unknown' }) })).toBe('unknown');
    expect(statusOf({ kind: 'llm', item: llm('x', 1, 1, { error_code: 'rate_limited' }) })).toBe('failed');
  });

  test('a stage spans the times of the session, or else of its calls', () => {
    const row = rowsOf(trace, new Map(), nothing)[0];
    expect(row?.span).toEqual({ start: begin, end: begin + 3000 });
    const known = { start: begin - 5, end: undefined };
    expect(rowsOf(trace, new Map([['stage-1', known]]), nothing)[0]?.span).toBe(known);
  });

  test('every call is indexed by id', () => {
    expect([...callIndex(trace).keys()].sort()).toEqual(['l1', 'l2', 'l3', 'l4', 'm1', 'sum']);
  });

  test('arrow keys move as in an ARIA tree', () => {
    const rows = shown(['c']);
    const at = (id: string) => rows.findIndex(({ row }) => row.id === id);
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
