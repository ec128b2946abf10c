import { describe, expect, it } from 'vitest';
import { spentBySessions } from './budget';
import { problemsOf } from './degraded';

describe('the badge of a degraded system', () => {
  const server = { id: 'cluster', checked: true, healthy: true };
  const health = { status: 'degraded', database: 'ok', mcp_servers: [server], warnings: [] };
  const troubles = (parts: object) =>
    problemsOf({ ...health, ...parts } as unknown as Parameters<typeof problemsOf>[0]);

  it('is hidden when the system is healthy', () => {
    expect(troubles({ status: 'healthy', warnings: [{ message: 'A price is missing' }] })).toEqual([]);
  });

  it('lists the database, unreachable MCP servers and warnings, each once', () => {
    expect(troubles({ database: 'unreachable' })).toEqual(['Database: unreachable']);
    expect(troubles({ mcp_servers: [server, { ...server, id: 'logs', healthy: false }] })).toEqual([
      'MCP server logs is not reachable',
    ]);
    expect(troubles({ warnings: [{ message: 'Discord is away' }, { message: 'Discord is away' }] })).toEqual([
      'Discord is away',
    ]);
    expect(troubles({})).toEqual(['The server reports a problem']);
  });

  it('ignores servers that are not checked yet', () => {
    expect(troubles({ database: 'x', mcp_servers: [{ ...server, checked: false, healthy: false }] })).toEqual([
      'Database: x',
    ]);
  });
});

describe('the daily budget', () => {
  it('counts sessions only', () => {
    const kind = (name: string, cost_usd: number) => ({ name, usage: { cost_usd } });
    const usage = { by_kind: [kind('notes', 4), kind('sessions', 2.5)] };
    expect(spentBySessions(usage as unknown as Parameters<typeof spentBySessions>[0])).toBe(2.5);
    expect(spentBySessions({ by_kind: [] })).toBe(0);
  });
});
