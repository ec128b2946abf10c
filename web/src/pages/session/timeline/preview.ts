/**
 * The one-line preview of an event in a collapsed row. Texts of tools and models can be huge or malformed, so the work
 * is bounded.
 */
import { waitsForApproval } from '@/live/approval';
import type { EventView } from '@/live/view';
import { firstLine } from '@/text/format';

const longest = 240;
const deepest = 4;

/** The known facts of a tool call, for its row. */
export interface ToolCallFacts {
  /** The call's number in its session, used in citations. */
  call: string;
  server: string;
  tool: string;
  attempt: number;
  resultTokens: number | undefined;
  failed: boolean;
  unknown: boolean;
}

export function toolCallFacts(event: EventView): ToolCallFacts {
  const metadata = event.metadata ?? {};
  return {
    call: text(metadata.call),
    server: text(metadata.server_name),
    tool: text(metadata.tool_name) || 'unknown tool',
    attempt: whole(metadata.attempt) ?? 1,
    resultTokens: whole(metadata.result_tokens),
    failed: metadata.is_error === true,
    unknown: metadata.outcome === 'unknown',
  };
}

/** Returns how long an event took, in milliseconds; undefined while it runs or if it has no duration. */
export function durationOf(event: EventView): number | undefined {
  const measured = event.metadata?.duration_ms;
  if (typeof measured === 'number') return measured;
  if (!event.completed_at || event.status === 'streaming') return undefined;
  const span = Date.parse(event.completed_at) - Date.parse(event.created_at);
  return span > 0 ? span : undefined;
}

/** Returns the preview of an event. */
export function previewOf(event: EventView): string {
  const metadata = event.metadata ?? {};
  switch (event.event_type) {
    case 'llm_tool_call':
      // A person decides on the exact arguments, which the card shows; a preview may round numbers.
      if (waitsForApproval(event)) return '';
      return argumentsPreview(metadata.arguments);
    case 'code_execution':
      return firstLine(text(metadata.code).slice(0, 2000)) || firstLine(event.content.slice(0, 2000));
    case 'google_search_result':
    case 'url_context_result':
      return queriesPreview(metadata.queries) || firstLine(event.content.slice(0, 2000));
    default:
      // While it streams, the latest line is the most informative.
      return event.status === 'streaming' ? lastLine(event.content) : firstLine(event.content.slice(0, 2000), longest);
  }
}

/** Returns the last line with words of a growing text. */
export function lastLine(content: string): string {
  const lines = content.slice(-1000).split('\n');
  for (let at = lines.length - 1; at >= 0; at--) {
    const line = firstLine(lines[at] ?? '', longest);
    if (line !== '') return line;
  }
  return '';
}

function queriesPreview(queries: unknown): string {
  if (!Array.isArray(queries)) return '';
  return clip(
    queries
      .slice(0, 5)
      .filter((query) => typeof query === 'string')
      .join(' · '),
  );
}

/** Returns arguments as shortened `name: value` pairs. Other values are shown as they are. */
export function argumentsPreview(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return clip(value);
  if (typeof value !== 'object' || Array.isArray(value)) return clip(compact(value, 0));
  const parts: string[] = [];
  let length = 0;
  for (const key in value) {
    const part = `${key.slice(0, longest)}: ${compact((value as Record<string, unknown>)[key], 1)}`;
    parts.push(part);
    length += part.length;
    if (length > longest) break;
  }
  return clip(parts.join(', '));
}

/** Returns abbreviated JSON, doing no more work than a row of text needs. */
function compact(value: unknown, depth: number): string {
  if (typeof value === 'string') return value.slice(0, longest);
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth >= deepest) return Array.isArray(value) ? '[…]' : '{…}';
  const parts: string[] = [];
  let length = 0;
  const add = (part: string) => {
    parts.push(part);
    length += part.length;
    return length <= longest;
  };
  if (Array.isArray(value)) {
    for (const item of value) if (!add(compact(item, depth + 1))) break;
    return `[${parts.join(', ')}]`;
  }
  for (const key in value) {
    if (!add(`${key.slice(0, longest)}: ${compact((value as Record<string, unknown>)[key], depth + 1)}`)) break;
  }
  return `{${parts.join(', ')}}`;
}

function clip(line: string): string {
  const flat = line
    .slice(0, 2 * longest)
    .replace(/\s+/g, ' ')
    .trim();
  return flat.length > longest ? `${flat.slice(0, longest)}…` : flat;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function whole(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}
