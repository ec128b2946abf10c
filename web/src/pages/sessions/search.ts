/** The filter of the list, in the page's address and as the server's query. */
import { type KnownSeverity, severities } from '@/alert/severities';
import type { SessionSearch } from '@/api/queries';
import type { HandlingState, SessionStatus } from '@/api/types';
import { handlingStates } from '@/handling/words';
import { outcomes } from '@/text/words';
import { splitLabels } from './labels';

export const statuses = [
  'in_progress',
  'pending',
  'cancelling',
  'failed',
  'timed_out',
  'completed',
  'cancelled',
] as const satisfies readonly SessionStatus[];

/** Ranges that end now: a link to the last hour means the hour before it is opened. */
const ranges = { '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 } as const;
export type Range = keyof typeof ranges;
export const rangeWords: Record<Range, string> = { '1h': 'Last hour', '24h': 'Last 24 hours', '7d': 'Last 7 days' };

export interface SessionsPageSearch {
  status?: SessionStatus[];
  outcome?: string[];
  alert_type?: string;
  chain_id?: string;
  author?: string;
  severity?: KnownSeverity;
  service?: string;
  namespace?: string;
  cluster?: string;
  team?: string;
  /** The identity of an alert, to find all sessions that investigated it. */
  fingerprint?: string;
  /** Labels as name=value, comma-separated; see labels.ts. */
  label?: string;
  handling?: HandlingState[];
  /** A name, or `me` for the caller. */
  assignee?: string;
  tag?: string;
  search?: string;
  /** Only sessions with tool calls waiting for an approval. */
  approvals?: 'waiting';
  /** A range that ends now; `after` and `before` are then ignored. */
  range?: Range;
  after?: string;
  before?: string;
  /** Defaults to attention first: waiting for a person, running, failed, queued, finished. */
  order?: 'newest';
}

/** Reads the filter from the page's address; unknown values are ignored. */
export function readSessionSearch(search: Record<string, unknown>): SessionsPageSearch {
  const text = (key: string) => {
    const value = search[key];
    return typeof value === 'string' && value.trim() !== '' ? value : undefined;
  };
  const range = (Object.keys(ranges) as Range[]).find((known) => known === search.range);
  return {
    status: readList(search.status, statuses),
    outcome: readList(search.outcome, outcomes),
    alert_type: text('alert_type'),
    chain_id: text('chain_id'),
    author: text('author'),
    severity: severities.find((known) => known === search.severity),
    service: text('service'),
    namespace: text('namespace'),
    cluster: text('cluster'),
    team: text('team'),
    fingerprint: text('fingerprint'),
    label: splitLabels(text('label')).length > 0 ? text('label') : undefined,
    handling: readList(search.handling, handlingStates),
    assignee: text('assignee'),
    tag: text('tag'),
    search: text('search'),
    approvals: search.approvals === 'waiting' ? 'waiting' : undefined,
    range,
    after: range ? undefined : readTime(search.after),
    before: range ? undefined : readTime(search.before),
    order: search.order === 'newest' ? 'newest' : undefined,
  };
}

function readList<T extends string>(value: unknown, allowed: readonly T[]): T[] | undefined {
  const named: unknown[] = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  const known = allowed.filter((one) => named.includes(one));
  return known.length === 0 ? undefined : known;
}

function readTime(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const at = new Date(value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

/** Reports whether any filter applies; the order is not a filter. */
export function isFiltered(search: SessionsPageSearch): boolean {
  return Object.entries(search).some(([key, value]) => key !== 'order' && value !== undefined);
}

/**
 * Returns the query for the server. A range that ends now starts at a rounded time, so that the query stays the same
 * for a while and its response can be cached. The step is a sixtieth of the range: a minute for the last hour.
 */
export function filterOf(search: SessionsPageSearch, now: Date): SessionSearch {
  const { range, after, before, order, label, tag, ...rest } = search;
  const labels = splitLabels(label);
  const filter: SessionSearch = {
    ...rest,
    label: labels.length === 0 ? undefined : labels,
    tag: tag === undefined ? undefined : [tag],
    order: order ?? 'attention',
  };
  if (range !== undefined) {
    const grain = ranges[range] / 60;
    filter.created_after = new Date(Math.floor((now.getTime() - ranges[range]) / grain) * grain).toISOString();
    return filter;
  }
  return { ...filter, created_after: after, created_before: before };
}
