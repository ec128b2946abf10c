import type { components } from '@/api/schema';

export type MCPServer = components['schemas']['MCPServer'];
export type Tool = components['schemas']['Tool'];

/** The servers and their tools in whose names or descriptions every word occurs; a server found by name has all its tools. */
export function findTools(servers: readonly MCPServer[], text: string): MCPServer[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [...servers];
  const found = (...texts: string[]) => {
    const all = texts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
  return servers.flatMap((server) => {
    if (found(server.id)) return [server];
    const tools = server.tools.filter((tool) => found(server.id, tool.name, tool.description));
    return tools.length === 0 ? [] : [{ ...server, tools }];
  });
}

/** A tool's schema to read. What a server sends may be nested deeper than can be written out. */
export function schemaText(schema: unknown): string {
  try {
    return JSON.stringify(schema, null, 2) ?? 'none';
  } catch {
    return 'The schema is nested too deeply to be shown.';
  }
}
