/** What the System page shows, as its address carries it. */
import type { Job } from '@/api/types';

export const tabs = ['health', 'jobs', 'tools', 'usage', 'config', 'keys'] as const;
export type SystemTab = (typeof tabs)[number];

/** How many days back usage is looked at. */
export const ranges = [7, 30, 90] as const;
export type Range = (typeof ranges)[number];

/** Where a setting's value may come from. */
export const origins = ['file', 'env', 'flag', 'built-in'] as const;
export type Origin = (typeof origins)[number];

export const jobStates = [
  'waiting',
  'running',
  'retrying',
  'failed',
  'completed',
] as const satisfies readonly Job['state'][];
export type JobState = Job['state'];

export interface SystemPageSearch {
  /** Left out, health. */
  tab?: SystemTab;
  /** Left out, 30. */
  days?: Range;
  /** What tools or settings are searched for. */
  q?: string;
  /** Left out, settings of every origin. */
  origin?: Origin[];
  /** Jobs of one queue, or in one state; left out, all. */
  queue?: string;
  state?: JobState;
}

/** Reads the page's address; what it does not know it leaves out. */
export function readSystemSearch(search: Record<string, unknown>): SystemPageSearch {
  const q = typeof search.q === 'string' && search.q.trim() !== '' ? search.q : undefined;
  return {
    tab: tabs.find((tab) => tab === search.tab),
    days: ranges.find((days) => days === Number(search.days)),
    q,
    origin: readOrigins(search.origin),
    queue: typeof search.queue === 'string' && search.queue !== '' ? search.queue : undefined,
    state: jobStates.find((state) => state === search.state),
  };
}

function readOrigins(value: unknown): Origin[] | undefined {
  const named: unknown[] = typeof value === 'string' ? value.split(',') : Array.isArray(value) ? value : [];
  const known = origins.filter((origin) => named.includes(origin));
  return known.length === 0 ? undefined : known;
}
