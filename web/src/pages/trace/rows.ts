/** The trace as rows: stage, execution, call, each where it stands in the tree and in time. Pure functions. */
import type { LLMInteractionItem, MCPInteractionItem, Trace, TraceExecution, Usage } from '@/api/types';
import type { SessionView } from '@/live/view';

/** Milliseconds since the epoch. `end` is undefined while it runs. */
export interface Span {
  start: number;
  end: number | undefined;
}

export type Call = { kind: 'llm'; item: LLMInteractionItem } | { kind: 'mcp'; item: MCPInteractionItem };

interface Place {
  id: string;
  /** The id of the row above it in the tree; empty at the top. */
  parent: string;
  level: number;
  /** Where it stands among its siblings, from 1, and how many those are. */
  position: number;
  siblings: number;
}

interface Facts {
  label: string;
  /** Shown after the label, in a softer colour. */
  hint: string;
  status: string;
  span: Span | undefined;
  usage: Usage | undefined;
}

export type Row = Place & Facts & ({ kind: 'stage' | 'execution' | 'session'; open: boolean } | Call);

/** The row of the calls that belong to no stage. */
export const sessionRow = 'session';

/** When stages and executions began and ended, as the session knows it. */
type Times = ReadonlyMap<string, Span>;

export function timesOf(view: SessionView | undefined): Times {
  const times = new Map<string, Span>();
  for (const { stage, executions } of view?.stages ?? []) {
    for (const row of [stage, ...executions.map((one) => one.execution)]) {
      if (row.started_at === null) continue;
      const end = row.completed_at === null ? undefined : Date.parse(row.completed_at);
      times.set(row.id, { start: Date.parse(row.started_at), end });
    }
  }
  return times;
}

/** An LLM call is written down when it is over, an MCP call when it begins. */
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

/** An execution's calls in the order in which they began. */
export function callsOf(execution: Pick<TraceExecution, 'llm_interactions' | 'mcp_interactions'>): Call[] {
  const calls: Call[] = [
    ...execution.llm_interactions.map((item): Call => ({ kind: 'llm', item })),
    ...execution.mcp_interactions.map((item): Call => ({ kind: 'mcp', item })),
  ];
  const starts = new Map(calls.map((call) => [call, spanOf(call).start]));
  return calls.sort((a, b) => (starts.get(a) ?? 0) - (starts.get(b) ?? 0));
}

/** Every call of a trace under its id. */
export function callIndex(trace: Trace): ReadonlyMap<string, Call> {
  const all = trace.stages.flatMap((stage) => stage.executions.flatMap(callsOf));
  const session = trace.session_interactions.map((item): Call => ({ kind: 'llm', item }));
  return new Map([...all, ...session].map((call) => [call.item.id, call]));
}

/** The rows that are in sight: those below a closed one are not. */
export function flatten(trace: Trace, times: Times, closed: ReadonlySet<string>): Row[] {
  const rows: Row[] = [];
  const extra = trace.session_interactions.length > 0 ? 1 : 0;
  const top = trace.stages.length + extra;
  for (const [n, stage] of trace.stages.entries()) {
    const executions = stage.executions.map((execution) => ({ execution, calls: callsOf(execution) }));
    const open = !closed.has(stage.stage_id);
    const covered = cover(executions.flatMap(({ calls }) => calls.map(spanOf)));
    rows.push({
      kind: 'stage',
      open,
      ...place(stage.stage_id, '', 1, n + 1, top),
      ...{
        label: stage.stage_name,
        hint: stage.stage_type === stage.stage_name ? '' : stage.stage_type,
        status: stage.status,
        usage: stage.usage,
      },
      span: times.get(stage.stage_id) ?? covered,
    });
    if (!open) continue;
    for (const [m, { execution, calls }] of executions.entries()) {
      const id = execution.execution_id;
      const openBelow = !closed.has(id);
      rows.push({
        kind: 'execution',
        open: openBelow,
        ...place(id, stage.stage_id, 2, m + 1, executions.length),
        ...{
          label: execution.agent_name,
          hint: execution.llm_provider,
          status: execution.status,
          usage: execution.usage,
        },
        span: times.get(id) ?? cover(calls.map(spanOf)),
      });
      if (openBelow) rows.push(...callRows(calls, id, 3));
    }
  }
  if (extra > 0) {
    const calls = trace.session_interactions.map((item): Call => ({ kind: 'llm', item }));
    const open = !closed.has(sessionRow);
    rows.push({
      kind: 'session',
      open,
      ...place(sessionRow, '', 1, top, top),
      ...{ label: 'Session', hint: 'calls outside of stages', status: 'completed', usage: undefined },
      span: cover(calls.map(spanOf)),
    });
    if (open) rows.push(...callRows(calls, sessionRow, 2));
  }
  return rows;
}

function place(id: string, parent: string, level: number, position: number, siblings: number): Place {
  return { id, parent, level, position, siblings };
}

function callRows(calls: readonly Call[], parent: string, level: number): Row[] {
  let iteration = 0;
  return calls.map((call, n) => ({
    ...call,
    ...place(call.item.id, parent, level, n + 1, calls.length),
    ...names(call),
    ...(call.kind === 'llm' && call.item.interaction_type === 'iteration' ? { label: `iteration ${++iteration}` } : {}),
    status: statusOf(call),
    span: spanOf(call),
    usage: call.kind === 'llm' ? call.item.usage : undefined,
  }));
}

/** What a call is called. */
export function names(call: Call): { label: string; hint: string } {
  if (call.kind === 'mcp') return { label: call.item.tool_name, hint: call.item.server_name };
  return { label: call.item.interaction_type.replaceAll('_', ' '), hint: call.item.model_name };
}

/** From the first beginning to the last end; undefined if there is nothing. It runs while one of them does. */
export function cover(spans: readonly Span[]): Span | undefined {
  const [first] = spans;
  if (first === undefined) return undefined;
  let { start, end } = first;
  for (const span of spans) {
    start = Math.min(start, span.start);
    end = end === undefined || span.end === undefined ? undefined : Math.max(end, span.end);
  }
  return { start, end };
}
