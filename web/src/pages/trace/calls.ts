/** The calls of a trace: their names, times and results. Pure functions. */
import type { LLMInteractionItem, MCPInteractionItem, Trace, TraceExecution } from '@/api/types';

/** Milliseconds since the epoch. `end` is undefined while the call runs. */
export interface Span {
  start: number;
  end: number | undefined;
}

export type Call = { kind: 'llm'; item: LLMInteractionItem } | { kind: 'mcp'; item: MCPInteractionItem };

/** Returns when a call ran. An LLM call is recorded when it ends, an MCP call when it starts. */
export function spanOf(call: Call): Span {
  const at = Date.parse(call.item.created_at);
  if (call.kind === 'llm') return { start: at - call.item.duration_ms, end: at };
  if (call.item.status === 'started') return { start: at, end: undefined };
  return { start: at, end: at + call.item.duration_ms };
}

export function statusOf(call: Call): string {
  if (call.kind === 'llm') return call.item.error_code === '' ? 'completed' : 'failed';
  return call.item.status === 'completed' && call.item.is_error ? 'failed' : call.item.status;
}

const failures = new Set(['failed', 'timed_out', 'unknown']);

/** Reports whether a status means an unsuccessful end. */
export function hasFailed(status: string): boolean {
  return failures.has(status);
}

/** Returns an execution's calls, ordered by start. */
export function callsOf(execution: Pick<TraceExecution, 'llm_interactions' | 'mcp_interactions'>): Call[] {
  const calls: Call[] = [
    ...execution.llm_interactions.map((item): Call => ({ kind: 'llm', item })),
    ...execution.mcp_interactions.map((item): Call => ({ kind: 'mcp', item })),
  ];
  const starts = new Map(calls.map((call) => [call, spanOf(call).start]));
  return calls.sort((a, b) => (starts.get(a) ?? 0) - (starts.get(b) ?? 0));
}

/** Indexes every call of a trace by id. */
export function callIndex(trace: Trace): ReadonlyMap<string, Call> {
  const all = trace.stages.flatMap((stage) => stage.executions.flatMap(callsOf));
  const session = trace.session_interactions.map((item): Call => ({ kind: 'llm', item }));
  return new Map([...all, ...session].map((call) => [call.item.id, call]));
}

/** Returns the display name of a call. */
export function names(call: Call): { label: string; hint: string } {
  if (call.kind === 'mcp') return { label: call.item.tool_name, hint: call.item.server_name };
  return { label: call.item.interaction_type.replaceAll('_', ' '), hint: call.item.model_name };
}

/** Returns the first failed call; undefined if none failed. */
export function firstFailed(calls: ReadonlyMap<string, Call>): string | undefined {
  let found: { id: string; start: number } | undefined;
  for (const [id, call] of calls) {
    if (!hasFailed(statusOf(call))) continue;
    const { start } = spanOf(call);
    if (found === undefined || start < found.start) found = { id, start };
  }
  return found?.id;
}

/** Returns the slowest of the calls that have ended. */
export function slowest(calls: ReadonlyMap<string, Call>): string | undefined {
  let found: { id: string; took: number } | undefined;
  for (const [id, call] of calls) {
    if (call.kind === 'mcp' && call.item.status === 'started') continue;
    const took = call.item.duration_ms;
    if (found === undefined || took > found.took) found = { id, took };
  }
  return found?.id;
}
