/** What the Quality page shows, as its address carries it. */
export const periods = [7, 30, 90] as const;
export type Period = (typeof periods)[number];

export const groupings = ['chain', 'agent', 'model', 'alert_type'] as const;
export type Grouping = (typeof groupings)[number];

export const groupingWords: Record<Grouping, string> = {
  chain: 'Chain',
  agent: 'Agent',
  model: 'Model',
  alert_type: 'Alert type',
};

export interface QualityPageSearch {
  /** Left out, 30. */
  days?: Period;
  /** Left out, chain. */
  by?: Grouping;
}

/** Reads the page's address; what it does not know it leaves out. */
export function readQualitySearch(search: Record<string, unknown>): QualityPageSearch {
  return {
    days: periods.find((days) => days === Number(search.days)),
    by: groupings.find((by) => by === search.by),
  };
}
