/** Usage by day for charts: every day of the range, including days without usage. Days are in UTC. */
import type { UsageSummary } from '@/api/types';

type Share = UsageSummary['by_day'][number];

const dayMs = 24 * 60 * 60 * 1000;

export interface Day {
  /** The server's name of the day, such as 2026-11-15. */
  name: string;
  cost: number;
  tokens: number;
  unpriced: number;
  llmCalls: number;
  toolCalls: number;
}

function nameOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the start of a range of days that ends today; the same all day. */
export function rangeStart(days: number, now: Date): string {
  const today = Math.floor(now.getTime() / dayMs) * dayMs;
  return new Date(today - (days - 1) * dayMs).toISOString();
}

/** Returns how many days a range covers: at least 1, and at most as many as the server reports. */
export function dayCount(from: string, to: string): number {
  const days = Math.ceil((Date.parse(to) - Date.parse(from)) / dayMs);
  return Number.isNaN(days) ? 1 : Math.min(Math.max(1, days), 367);
}

/** Returns a number that a chart can plot. */
function drawable(value: number): number {
  return Number.isFinite(value) && value > 0 ? value : 0;
}

/** Returns every day of the range, including those that the server omits. Days outside the range are dropped. */
export function daysOf(byDay: readonly Share[], from: string, days: number): Day[] {
  const start = Date.parse(from);
  const used = new Map(byDay.map((share) => [share.name, share]));
  return Array.from({ length: days }, (_, index) => {
    const name = nameOf(start + index * dayMs);
    const share = used.get(name);
    return {
      name,
      cost: drawable(share?.usage.cost_usd ?? 0),
      tokens: drawable(share?.usage.total_tokens ?? 0),
      unpriced: drawable(share?.usage.unpriced_tokens ?? 0),
      llmCalls: drawable(share?.llm_calls ?? 0),
      toolCalls: drawable(share?.tool_calls ?? 0),
    };
  });
}
