/** Compares two executions: which steps correspond, and what differs. Pure functions. */
import type { Trace, TraceExecution, TraceStage, Usage } from '@/api/types';
import { type Call, callsOf, hasFailed, spanOf, statusOf } from './calls';
import { cover } from './rows';

export interface Pair {
  left: Call | undefined;
  right: Call | undefined;
}

/**
 * Returns the identity of a step: two calls are the same step if they call the same tool, or if they call a model for
 * the same purpose.
 */
export function stepKey(call: Call): string {
  return call.kind === 'mcp'
    ? `mcp\0${call.item.server_name}\0${call.item.tool_name}`
    : `llm\0${call.item.interaction_type}`;
}

/**
 * More steps than this are paired by position: the best pairing takes time proportional to the product of both lengths.
 */
const mostAligned = 1_000;

/**
 * Pairs steps in order, so that as many as possible are next to the same step of the other side. Steps between two such
 * pairs are paired by position, and differ.
 */
export function align(left: readonly Call[], right: readonly Call[]): Pair[] {
  const pairs: Pair[] = [];
  let l = 0;
  let r = 0;
  const upTo = (endLeft: number, endRight: number) => {
    while (l < endLeft || r < endRight) {
      pairs.push({ left: l < endLeft ? left[l++] : undefined, right: r < endRight ? right[r++] : undefined });
    }
  };
  for (const [sameLeft, sameRight] of matches(left.map(stepKey), right.map(stepKey))) {
    upTo(sameLeft, sameRight);
    pairs.push({ left: left[l++], right: right[r++] });
  }
  upTo(left.length, right.length);
  return pairs;
}

/** Returns the positions of a longest common subsequence. */
function matches(left: readonly string[], right: readonly string[]): [number, number][] {
  if (left.length > mostAligned || right.length > mostAligned) return [];
  const width = right.length + 1;
  const longest = new Uint16Array((left.length + 1) * width);
  const at = (l: number, r: number) => longest[l * width + r] ?? 0;
  for (let l = left.length - 1; l >= 0; l--) {
    for (let r = right.length - 1; r >= 0; r--) {
      longest[l * width + r] = left[l] === right[r] ? at(l + 1, r + 1) + 1 : Math.max(at(l + 1, r), at(l, r + 1));
    }
  }
  const found: [number, number][] = [];
  for (let l = 0, r = 0; l < left.length && r < right.length; ) {
    if (left[l] === right[r]) found.push([l++, r++]);
    else if (at(l + 1, r) >= at(l, r + 1)) l++;
    else r++;
  }
  return found;
}

/** Reports whether two values are the same JSON, regardless of key order. */
export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  try {
    return JSON.stringify(ordered(a)) === JSON.stringify(ordered(b));
  } catch {
    // Too deeply nested to serialize: treated as different.
    return false;
  }
}

function ordered(value: unknown, depth = 0): unknown {
  if (typeof value !== 'object' || value === null || depth > 100) return value;
  if (Array.isArray(value)) return value.map((item) => ordered(item, depth + 1));
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  return Object.fromEntries(entries.map(([key, item]) => [key, ordered(item, depth + 1)]));
}

/** The metrics of an execution, for comparison. */
export interface Totals {
  duration: number;
  llmCalls: number;
  toolCalls: number;
  failedCalls: number;
  usage: Usage;
}

export function totalsOf(execution: TraceExecution, now: number): Totals {
  const calls = callsOf(execution);
  const span = cover(calls.map(spanOf));
  return {
    duration: span === undefined ? 0 : (span.end ?? now) - span.start,
    llmCalls: execution.llm_interactions.length,
    toolCalls: execution.mcp_interactions.length,
    failedCalls: calls.filter((call) => call.kind === 'mcp' && hasFailed(statusOf(call))).length,
    usage: execution.usage,
  };
}

export interface Choice {
  stage: TraceStage;
  left: TraceExecution;
  right: TraceExecution;
}

/** Returns the stages with several executions to compare. */
export function comparable(trace: Trace): TraceStage[] {
  return trace.stages.filter((stage) => stage.executions.length > 1);
}

/** Returns the two executions in the address. If one does not fit the other, the first one that does replaces it. */
export function chosen(trace: Trace, left: string | undefined, right: string | undefined): Choice | undefined {
  const stages = comparable(trace);
  const has = (stage: TraceStage, id: string | undefined) => stage.executions.some((one) => one.execution_id === id);
  const stage = stages.find((one) => has(one, left)) ?? stages.find((one) => has(one, right));
  if (stage === undefined) return undefined;
  const pick = (id: string | undefined, not: string | undefined) =>
    stage.executions.find((one) => one.execution_id === id && id !== not) ??
    stage.executions.find((one) => one.execution_id !== not);
  const first = has(stage, left) ? pick(left, undefined) : pick(undefined, right);
  const second = pick(right, first?.execution_id);
  return first && second && { stage, left: first, right: second };
}
