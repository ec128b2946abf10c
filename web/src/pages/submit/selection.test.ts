import { describe, expect, it } from 'vitest';
import type { MCPServer } from '@/api/types';
import { allowedServers } from './selection';

function server(id: string, ...tools: string[]): MCPServer {
  return {
    id,
    transport: 'stdio',
    healthy: true,
    checked: true,
    error: '',
    last_check: '2026-01-01T00:00:00Z',
    tool_count: tools.length,
    tools: tools.map((name) => ({ name, description: '', read_only: true, input_schema: {} })),
  };
}

describe('the offered servers', () => {
  it('are those of the chain, with the tools it allows', () => {
    const known = [server('github', 'merge'), server('k8s', 'get', 'restart'), server('logs', 'tail')];
    const allowed = [
      { name: 'logs', tools: ['tail'], known: true },
      { name: 'k8s', tools: ['get'], known: true },
    ];
    const offered = allowedServers(known, allowed);
    expect(offered.map((item) => [item.id, item.tools.map((tool) => tool.name)])).toEqual([
      ['logs', ['tail']],
      ['k8s', ['get']],
    ]);
  });
});
