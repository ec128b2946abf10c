/** The state of the System page in its address. */
import type { Job } from '@/api/types';

export const tabs = ['health', 'jobs', 'tools', 'usage', 'config', 'keys'] as const;
export type SystemTab = (typeof tabs)[number];

/** The ranges of the usage charts, in days. */
export const ranges = [7, 30, 90] as const;
export type Range = (typeof ranges)[number];

/** The possible origins of a setting's value. */
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
  /** Defaults to health. */
  tab?: SystemTab;
  /** Defaults to 30. */
  days?: Range;
  /** The search text for tools or settings. */
  q?: string;
  /** Defaults to all origins. */
  origin?: Origin[];
  /** Only jobs of this queue or in this state; defaults to all. */
  queue?: string;
  state?: JobState;
}

/** Reads the state from the page's address; unknown values are ignored. */
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
