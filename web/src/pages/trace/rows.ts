/** The rows of a trace: stages, executions and calls, with their position in the tree and in time. Pure functions. */
import type { Trace, TraceExecution, Usage } from '@/api/types';
import type { Lookup, SessionView } from '@/live/view';
import { firstArgument } from './argument';
import { type Call, callsOf, names, type Span, spanOf, statusOf } from './calls';
import { type Gap, gapsOf } from './gaps';

interface Place {
  id: string;
  /** The id of the parent row; empty at the top. */
  parent: string;
  level: number;
}

interface Facts {
  label: string;
  /** Shown after the label, subdued. */
  hint: string;
  status: string;
  span: Span | undefined;
  usage: Usage | undefined;
}

interface CallFacts {
  /** The number of a tool call in citations; empty for LLM calls. */
  number: string;
  /** The first argument of a tool call, as `name=value`; empty if there is none. */
  argument: string;
}

export type GroupRow = Place & Facts & { kind: 'stage' | 'execution' | 'session' };
export type CallRow = Place & Facts & CallFacts & Call;
export type GapRow = Place & Facts & { kind: 'gap'; gap: Gap };
export type Row = GroupRow | CallRow | GapRow;

/** The id of the row for calls outside of stages. */
export const sessionRow = 'session';

/** The start and end of stages and executions, from the session. */
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

export function isCall(row: Row): row is CallRow {
  return row.kind === 'llm' || row.kind === 'mcp';
}

export function isGroup(row: Row): row is GroupRow {
  return row.kind === 'stage' || row.kind === 'execution' || row.kind === 'session';
}

/**
 * Returns every row of a trace, each after its parent. `event` returns the timeline event of a tool call, which has its
 * arguments.
 */
export function rowsOf(trace: Trace, times: Times, event: Lookup): Row[] {
  const rows: Row[] = [];
  const gaps = gapsOf(trace);
  const placed = new Set<Gap>();
  for (const stage of trace.stages) {
    const executions = stage.executions.map((execution) => ({ execution, calls: callsOf(execution) }));
    rows.push({
      kind: 'stage',
      ...{ id: stage.stage_id, parent: '', level: 1 },
      label: stage.stage_name,
      hint: stage.stage_type === stage.stage_name ? '' : stage.stage_type,
      status: stage.status,
      usage: stage.usage,
      span: times.get(stage.stage_id) ?? cover(executions.flatMap(({ calls }) => calls.map(spanOf))),
    });
    for (const { execution, calls } of executions) {
      const id = execution.execution_id;
      const span = times.get(id) ?? cover(calls.map(spanOf));
      rows.push({
        kind: 'execution',
        ...{ id, parent: stage.stage_id, level: 2 },
        label: execution.agent_name,
        hint: execution.llm_provider,
        status: execution.status,
        usage: execution.usage,
        span,
      });
      const numbers = numbersOf(execution, stage.stage_index);
      const below: Row[] = callRows(calls, id, 3, event, numbers);
      for (const gap of gaps) {
        if (!overlaps(span, gap.span)) continue;
        placed.add(gap);
        insert(below, gapRow(gap, id, 3));
      }
      rows.push(...below);
    }
  }
  const outside = trace.session_interactions.map((item): Call => ({ kind: 'llm', item }));
  // Gaps outside of executions, for example if a server died while writing the summary.
  const rest = gaps.filter((gap) => !placed.has(gap));
  if (outside.length === 0 && rest.length === 0) return rows;
  rows.push({
    kind: 'session',
    ...{ id: sessionRow, parent: '', level: 1 },
    label: 'Session',
    hint: 'outside of stages',
    status: 'completed',
    usage: undefined,
    span: cover([...outside.map(spanOf), ...rest.map((gap) => gap.span)]),
  });
  const below: Row[] = callRows(outside, sessionRow, 2, event, new Map());
  for (const gap of rest) insert(below, gapRow(gap, sessionRow, 2));
  rows.push(...below);
  return rows;
}

/** Returns the numbers of an execution's tool calls, which count from 1 in call order. */
function numbersOf(execution: TraceExecution, stageIndex: number): ReadonlyMap<string, string> {
  return new Map(
    execution.mcp_interactions.map((item, n) => [item.id, `${stageIndex}.${execution.agent_index}.${n + 1}`]),
  );
}

function callRows(
  calls: readonly Call[],
  parent: string,
  level: number,
  event: Lookup,
  numbers: ReadonlyMap<string, string>,
): CallRow[] {
  let iteration = 0;
  return calls.map((call) => ({
    ...call,
    ...{ id: call.item.id, parent, level },
    ...names(call),
    ...(call.kind === 'llm' && call.item.interaction_type === 'iteration' ? { label: `iteration ${++iteration}` } : {}),
    number: numbers.get(call.item.id) ?? '',
    argument: call.kind === 'mcp' ? firstArgument(event(call.item.timeline_event_id)?.metadata?.arguments) : '',
    status: statusOf(call),
    span: spanOf(call),
    usage: call.kind === 'llm' ? call.item.usage : undefined,
  }));
}

function gapRow(gap: Gap, parent: string, level: number): GapRow {
  return {
    kind: 'gap',
    gap,
    ...{ id: `gap ${gap.span.start} ${parent}`, parent, level },
    label: 'Interrupted',
    hint: gap.reason,
    status: 'unknown',
    span: gap.span,
    usage: undefined,
  };
}

/** Inserts a row before the first that started at the same time or later. */
function insert(rows: Row[], row: GapRow) {
  const at = rows.findIndex((other) => other.span !== undefined && other.span.start >= row.gap.span.start);
  rows.splice(at < 0 ? rows.length : at, 0, row);
}

function overlaps(span: Span | undefined, gap: Span): boolean {
  if (span === undefined || gap.end === undefined) return false;
  return span.start < gap.end && (span.end === undefined || span.end > gap.start);
}

/** Returns the span from the first start to the last end; undefined without spans. It is open while one of them is. */
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
