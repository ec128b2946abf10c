import { describe, expect, it } from 'vitest';
import { joinPages, joinTimeline, joinTrace } from './pages';
import type { Timeline, Trace } from './types';

const timeline = (version: number, ids: string[], next_cursor?: string) =>
  ({ session_id: 's', version, events: ids.map((id) => ({ id })), next_cursor }) as unknown as Timeline;

const trace = (llm: string[], mcp: string[], loose: string[]) =>
  ({
    stages: [
      {
        stage_id: 'a',
        executions: [
          {
            execution_id: 'x',
            usage: { total_tokens: 7 },
            llm_interactions: llm.map((id) => ({ id })),
            mcp_interactions: mcp.map((id) => ({ id })),
          },
          { execution_id: 'y', llm_interactions: [], mcp_interactions: [] },
        ],
      },
    ],
    session_interactions: loose.map((id) => ({ id })),
  }) as unknown as Trace;

describe('pages', () => {
  it('are read until there is no next cursor', async () => {
    const asked: (string | undefined)[] = [];
    const pages: Record<string, Timeline> = {
      first: timeline(5, ['1', '2'], 'second'),
      second: timeline(6, ['3'], 'third'),
      third: timeline(7, ['4']),
    };
    const whole = await joinPages(async (cursor) => {
      asked.push(cursor);
      return pages[cursor ?? 'first'] as Timeline;
    }, joinTimeline);
    expect(asked).toEqual([undefined, 'second', 'third']);
    expect(whole.events.map((e) => e.id)).toEqual(['1', '2', '3', '4']);
    expect(whole.version).toBe(5);
  });

  it('of a trace are merged per execution', () => {
    const whole = joinTrace(trace(['l1'], ['m1'], []), trace(['l2'], ['m2', 'm3'], ['s1']));
    expect(whole).toEqual(trace(['l1', 'l2'], ['m1', 'm2', 'm3'], ['s1']));
  });
});
