/** The MCP servers and tools of its chain that an alert uses. A server without a tool list has all its tools. */
import type { DefaultTools, MCPSelection, MCPServer } from '@/api/types';

export type ServerSelection = MCPSelection['servers'][number];

export const nativeTools = ['google_search', 'code_execution', 'url_context'] as const;
type NativeTool = (typeof nativeTools)[number];
export const nativeChoices = ['configured', 'off'] as const;
type NativeChoice = (typeof nativeChoices)[number];
export type NativeChoices = Record<NativeTool, NativeChoice>;

export const asConfigured: NativeChoices = {
  google_search: 'configured',
  code_execution: 'configured',
  url_context: 'configured',
};

function toolsOf(servers: readonly ServerSelection[], name: string): readonly string[] | 'all' | 'none' {
  const server = servers.find((candidate) => candidate.name === name);
  if (server === undefined) return 'none';
  return server.tools === undefined || server.tools.length === 0 ? 'all' : server.tools;
}

export function serverState(servers: readonly ServerSelection[], name: string): 'all' | 'some' | 'none' {
  const tools = toolsOf(servers, name);
  return typeof tools === 'string' ? tools : 'some';
}

export function hasTool(servers: readonly ServerSelection[], name: string, tool: string): boolean {
  const tools = toolsOf(servers, name);
  return tools === 'all' || (tools !== 'none' && tools.includes(tool));
}

/** Selects a server with all its tools, or removes it if all are selected. */
export function toggleServer(servers: readonly ServerSelection[], name: string): ServerSelection[] {
  return replace(servers, name, serverState(servers, name) === 'all' ? null : { name });
}

export function toggleTool(
  servers: readonly ServerSelection[],
  name: string,
  tool: string,
  offered: readonly string[],
): ServerSelection[] {
  const known = toolsOf(servers, name);
  const before = known === 'all' ? offered : known === 'none' ? [] : known;
  const after = before.includes(tool) ? before.filter((candidate) => candidate !== tool) : [...before, tool];
  if (after.length === 0) return replace(servers, name, null);
  const all = after.length === offered.length && offered.every((candidate) => after.includes(candidate));
  return replace(servers, name, all ? { name } : { name, tools: after });
}

function replace(servers: readonly ServerSelection[], name: string, by: ServerSelection | null): ServerSelection[] {
  if (by === null) return servers.filter((server) => server.name !== name);
  if (servers.some((server) => server.name === name))
    return servers.map((server) => (server.name === name ? by : server));
  return [...servers, by];
}

/** Returns the selected tools that the server does not offer now. */
export function missingTools(servers: readonly ServerSelection[], name: string, offered: readonly string[]): string[] {
  const tools = toolsOf(servers, name);
  return typeof tools === 'string' ? [] : tools.filter((tool) => !offered.includes(tool));
}

export function choicesOf(selection: MCPSelection['native_tools']): NativeChoices {
  const choice = (set: boolean | undefined): NativeChoice => (set === false ? 'off' : 'configured');
  return {
    google_search: choice(selection?.google_search),
    code_execution: choice(selection?.code_execution),
    url_context: choice(selection?.url_context),
  };
}

/** Returns the selection for the server. An empty one is sent too: the server reports the error. */
export function selectionOf(servers: readonly ServerSelection[], choices: NativeChoices): MCPSelection {
  const off = nativeTools.filter((tool) => choices[tool] === 'off');
  if (off.length === 0) return { servers: [...servers] };
  return { servers: [...servers], native_tools: Object.fromEntries(off.map((tool) => [tool, false])) };
}

/**
 * Returns the servers that a chain allows, each with its allowed tools. A server whose tools are not loaded yet has
 * none.
 */
export function allowedServers(known: readonly MCPServer[], allowed: DefaultTools['servers']): MCPServer[] {
  return allowed.flatMap((granted) => {
    const server = known.find((candidate) => candidate.id === granted.name);
    if (server === undefined) return [];
    return [{ ...server, tools: server.tools.filter((tool) => granted.tools.includes(tool.name)) }];
  });
}
