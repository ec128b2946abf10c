/**
 * A call as something that can be sent again: JSON, and commands for a shell. A call contains untrusted text,
 * and people paste it into terminals: nothing in it may end its quotes or move a cursor.
 */
import type { LLMInteraction, MCPInteraction, TraceMessage } from '@/api/types';
import { shellQuote } from '@/text/shell';

// Control characters, marks that turn the direction of writing, and separators of lines.
const unseen = /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** JSON in which every character that a terminal might act on is written as its number. */
export function plainJson(value: unknown, indent?: number): string {
  const json = JSON.stringify(value, null, indent) ?? 'null';
  return json.replace(unseen, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A command that asks this server for the call. */
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

/** The conversation that the model saw, as a request that most servers of models understand. */
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

/** The call of a tool as its server gets it. */
export function toolRequest(call: Pick<MCPInteraction, 'tool_name' | 'tool_arguments'>) {
  return {
    jsonrpc: '2.0' as const,
    id: 1,
    method: 'tools/call' as const,
    params: { name: call.tool_name, arguments: call.tool_arguments ?? {} },
  };
}

function postCommand(url: string, headers: readonly string[], body: unknown): string {
  // --data-raw, because a body that begins with @ would be the name of a file.
  return [`curl ${url}`, ...headers.map((header) => `-H ${header}`), `--data-raw ${shellQuote(plainJson(body))}`].join(
    ' \\\n  ',
  );
}

/** A command that asks a model the same. Address and key are the reader's own. */
export function chatCommand(call: Pick<LLMInteraction, 'model_name' | 'conversation'>): string {
  const headers = ['"Authorization: Bearer $OPENAI_API_KEY"', "'Content-Type: application/json'"];
  return postCommand('"$OPENAI_BASE_URL/chat/completions"', headers, chatRequest(call));
}

/** A command that calls the tool. Its server's address is the reader's own. */
export function toolCommand(call: Pick<MCPInteraction, 'tool_name' | 'tool_arguments'>): string {
  const headers = ["'Content-Type: application/json'", "'Accept: application/json, text/event-stream'"];
  return postCommand('"$MCP_SERVER_URL"', headers, toolRequest(call));
}
