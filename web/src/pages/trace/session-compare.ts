/** Compares two sessions: their conclusions, tool calls and effort. Pure functions. */
import type { SessionDetail, Trace, Usage } from '@/api/types';
import { elapsed } from '@/text/format';
import { plainText } from '@/text/plain';
import { confidenceWord, outcomeWord } from '@/text/words';
import { statusLabel } from '@/ui/status';
import { type Call, callIndex, hasFailed, statusOf } from './calls';

export interface Side {
  session: SessionDetail;
  trace: Trace;
}

/**
 * Orders two sessions and names them by their relation, for the headings. The earlier one is on the left, so that
 * differences read as changes.
 */
export function inOrder(one: Side, other: Side): { left: Side; right: Side; names: readonly [string, string] } {
  const [left, right] =
    Date.parse(one.session.created_at) <= Date.parse(other.session.created_at) ? [one, other] : [other, one];
  const related = right.session.rerun_of === left.session.id;
  return { left, right, names: related ? ['Original', 'Re-run'] : ['Earlier session', 'Later session'] };
}

export interface TextRow {
  name: string;
  left: string;
  right: string;
  same: boolean;
}

/** Compares the verdicts. A session without one only has its status. */
export function compareVerdicts(left: SessionDetail, right: SessionDetail): TextRow[] {
  const both = (name: string, of: (session: SessionDetail) => string): TextRow => {
    const [a, b] = [of(left), of(right)];
    return { name, left: a, right: b, same: flat(a) === flat(b) };
  };
  const rows = [
    both('Outcome', (session) => (session.outcome === '' ? statusLabel(session.status) : outcomeWord(session.outcome))),
    both('Cause', (session) => plainText(session.verdict?.cause.text || session.cause)),
    both('Confidence', ({ verdict }) => (verdict ? confidenceWord(verdict.confidence) : '')),
    both('Reason', ({ verdict }) => plainText(verdict?.confidence_reason.text ?? '')),
    both('Impact', ({ verdict }) => plainText(verdict?.impact.text ?? '')),
  ];
  return rows.filter((row) => row.left !== '' || row.right !== '');
}

export interface Step {
  title: string;
  command: string;
  /** Whether the other session has it too. */
  shared: boolean;
}

/**
 * Returns the next steps of a session. Two steps are the same if their commands are or, without a command, their
 * titles.
 */
export function compareSteps(session: SessionDetail, other: SessionDetail): Step[] {
  const keyOf = (step: { title: string; command: string }) => flat(step.command || step.title);
  const known = new Set((other.verdict?.next_steps ?? []).map(keyOf));
  return (session.verdict?.next_steps ?? []).map((step) => ({
    title: step.title,
    command: step.command,
    shared: known.has(keyOf(step)),
  }));
}

/** Normalizes a text for comparison: models wrap and capitalize as they like. */
function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim().toLowerCase();
}

export interface ToolCount {
  calls: number;
  failed: number;
}

export interface ToolRow {
  server: string;
  tool: string;
  left: ToolCount;
  right: ToolCount;
}

/** Returns the calls per tool, largest differences first. */
export function compareTools(left: Trace, right: Trace): ToolRow[] {
  const rows = new Map<string, ToolRow>();
  for (const [side, trace] of [['left', left] as const, ['right', right] as const]) {
    for (const call of callIndex(trace).values()) {
      if (call.kind !== 'mcp') continue;
      const { server_name: server, tool_name: tool } = call.item;
      const key = `${server}\0${tool}`;
      const row = rows.get(key) ?? { server, tool, left: { calls: 0, failed: 0 }, right: { calls: 0, failed: 0 } };
      rows.set(key, row);
      row[side].calls++;
      if (hasFailed(statusOf(call))) row[side].failed++;
    }
  }
  const byName = (a: ToolRow, b: ToolRow) => `${a.server} ${a.tool}`.localeCompare(`${b.server} ${b.tool}`);
  const weight = (row: ToolRow) =>
    (row.left.calls === 0 || row.right.calls === 0 ? 1e9 : 0) + Math.abs(row.right.calls - row.left.calls);
  return [...rows.values()].sort((a, b) => weight(b) - weight(a) || byName(a, b));
}

/** Returns the models used, in order of first use. */
export function modelsOf(trace: Trace): string[] {
  const llm = [...callIndex(trace).values()].flatMap((call: Call) => (call.kind === 'llm' ? [call.item] : []));
  const ordered = llm.sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at));
  return [...new Set(ordered.map((item) => item.model_name))];
}

export interface SessionTotals {
  duration: number;
  llmCalls: number;
  toolCalls: number;
  failedCalls: number;
  usage: Usage;
}

export function sessionTotals({ session, trace }: Side, now: number): SessionTotals {
  const calls = [...callIndex(trace).values()];
  const tools = calls.filter((call) => call.kind === 'mcp');
  return {
    duration: elapsed(session.started_at, session.completed_at, new Date(now)),
    llmCalls: calls.length - tools.length,
    toolCalls: tools.length,
    failedCalls: tools.filter((call) => hasFailed(statusOf(call))).length,
    usage: trace.usage,
  };
}
