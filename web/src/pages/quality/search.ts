/** The state of the Quality page in its address. */
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
  /** Defaults to 30. */
  days?: Period;
  /** Defaults to chain. */
  by?: Grouping;
}

/** Reads the state from the page's address; unknown values are ignored. */
export function readQualitySearch(search: Record<string, unknown>): QualityPageSearch {
  return {
    days: periods.find((days) => days === Number(search.days)),
    by: groupings.find((by) => by === search.by),
  };
}
