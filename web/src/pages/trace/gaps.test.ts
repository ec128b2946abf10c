import { describe, expect, test } from 'vitest';
import type { Trace } from '@/api/types';
import { shownRows } from './filter';
import { begin, execution, llm, mcp, traceOf } from './fixture';
import { gapsOf } from './gaps';
import { rowsOf } from './rows';

const at = (ms: number) => new Date(begin + ms).toISOString();
const lost = (seen: number, resumed: number, by = 'server-2') => ({
  server_id: 'server-1',
  last_seen_at: at(seen),
  resumed_by: by,
  resumed_at: at(resumed),
});
const interrupted = (trace: Trace, ...interruptions: Trace['interruptions']): Trace => ({ ...trace, interruptions });
const ids = (trace: Trace) => rowsOf(trace, new Map(), () => undefined).map((row) => row.id);

describe('a gap from a lost server', () => {
  const trace = traceOf([
    [
      execution('a', [llm('l1', 1000, 1000), llm('l2', 30_000, 1000)], [mcp('m1', 1100, 300)]),
      execution('b', [llm('l3', 900, 900)], []),
    ],
  ]);

  test('lasts from its last record to the takeover', () => {
    expect(gapsOf(interrupted(trace, lost(500, 21_000)))).toEqual([
      {
        span: { start: begin + 1400, end: begin + 21_000 },
        reason: 'server-1 stopped responding; server-2 resumed the session',
      },
    ]);
    // The server was alive longer, as its calls show.
    expect(gapsOf(interrupted(trace, lost(5000, 21_000)))[0]?.span.start).toBe(begin + 5000);
    expect(gapsOf(interrupted(trace, lost(500, 21_000, 'server-1')))[0]?.reason).toBe(
      'server-1 stopped responding; it resumed after a restart',
    );
    expect(gapsOf(trace)).toEqual([]);
  });

  test('is a row among the calls of each interrupted agent', () => {
    const gap = `gap ${begin + 1400} a`;
    expect(ids(interrupted(trace, lost(500, 21_000)))).toEqual(['stage-1', 'a', 'l1', 'm1', gap, 'l2', 'b', 'l3']);
  });

  test('is a row of the session if no agent was running', () => {
    const shown = ids(interrupted(trace, lost(60_000, 80_000)));
    expect(shown.slice(-2)).toEqual(['session', `gap ${begin + 60_000} session`]);
  });

  test('can be filtered', () => {
    const rows = rowsOf(interrupted(trace, lost(500, 21_000)), new Map(), () => undefined);
    const shown = shownRows(rows, { kind: ['gap'] }, new Set(), () => true);
    expect(shown.map(({ row }) => row.kind)).toEqual(['stage', 'execution', 'gap']);
  });
});
