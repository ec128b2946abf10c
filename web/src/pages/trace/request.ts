/**
 * Exports a call for sending it again: as JSON, and as shell commands. A call contains untrusted text, and people paste
 * it into terminals: nothing in it may end its quotes or move a cursor.
 */
import type { LLMInteraction, MCPInteraction, TraceMessage } from '@/api/types';
import { shellQuote } from '@/text/shell';

// Control characters, bidirectional marks, and line separators.
const unseen = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** Returns JSON with every character that a terminal might interpret escaped. */
export function plainJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(unseen, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns a command that fetches the call from this server. */
export function fetchCommand(origin: string, sessionId: string, kind: 'llm' | 'mcp', id: string): string {
  const path = ['sessions', sessionId, 'trace', kind, id].map(encodeURIComponent).join('/');
  return `curl -H "Authorization: Bearer $TARSY_TOKEN" ${shellQuote(`${origin}/api/v1/${path}`)}`;
}

interface ChatMessage {
  role: string;
  content: string | null;
  tool_calls?: { id: string; type: 'function'; function: { name: string; arguments: string } }[];
  tool_call_id?: string;
}

/** Returns the conversation that the model saw, as a request in the format that most model servers accept. */
export function chatRequest(call: Pick<LLMInteraction, 'model_name' | 'conversation'>): {
  model: string;
  messages: ChatMessage[];
} {
  return { model: call.model_name, messages: call.conversation.map(chatMessage) };
}

function chatMessage({ role, content, tool_calls, tool_call_id }: TraceMessage): ChatMessage {
  const calls = tool_calls.map(({ id, name, arguments: given }) => ({
    id,
    type: 'function' as const,
    function: { name, arguments: given },
  }));
  return {
    role,
    content: content === '' && calls.length > 0 ? null : content,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
    ...(tool_call_id === '' ? {} : { tool_call_id }),
  };
}

/** Returns the tool call as its MCP server receives it. */
export function toolRequest(call: Pick<MCPInteraction, 'tool_name' | 'tool_arguments'>) {
  return {
    jsonrpc: '2.0' as const,
    id: 1,
    method: 'tools/call' as const,
    params: { name: call.tool_name, arguments: call.tool_arguments ?? {} },
  };
}

function postCommand(url: string, headers: readonly string[], body: unknown): string {
  // --data-raw, because --data would read a body starting with @ as a file name.
  return [`curl ${url}`, ...headers.map((header) => `-H ${header}`), `--data-raw ${shellQuote(plainJson(body))}`].join(
    ' \\\n  ',
  );
}

/** Returns a command that sends the same request to a model. The reader sets the address and the key. */
export function chatCommand(call: Pick<LLMInteraction, 'model_name' | 'conversation'>): string {
  const headers = ['"Authorization: Bearer $OPENAI_API_KEY"', "'Content-Type: application/json'"];
  return postCommand('"$OPENAI_BASE_URL/chat/completions"', headers, chatRequest(call));
}

/** Returns a command that calls the tool. The reader sets the server's address. */
export function toolCommand(call: Pick<MCPInteraction, 'tool_name' | 'tool_arguments'>): string {
  const headers = ["'Content-Type: application/json'", "'Accept: application/json, text/event-stream'"];
  return postCommand('"$MCP_SERVER_URL"', headers, toolRequest(call));
}
