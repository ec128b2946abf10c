import type { MCPServer } from '@/api/types';
import { searchFor } from '@/text/words';

/**
 * Returns the servers and tools whose names or descriptions contain every word. A server found by name keeps all its
 * tools.
 */
export function findTools(servers: readonly MCPServer[], text: string): MCPServer[] {
  const found = searchFor(text);
  return servers.flatMap((server) => {
    if (found(server.id)) return [server];
    const tools = server.tools.filter((tool) => found(server.id, tool.name, tool.description));
    return tools.length === 0 ? [] : [{ ...server, tools }];
  });
}
