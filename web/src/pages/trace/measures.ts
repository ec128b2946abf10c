/** The measures by which two sides are compared. */
import { cost, exactCost } from '@/text/format';

export interface Measure<Totals> {
  name: string;
  of: (totals: Totals) => number;
  show: (value: number) => string;
  /** Formats the tooltip of a value. */
  exact?: (value: number) => string;
  /** Describes how much more or less the second side has; defaults to a sign and the value. */
  compare?: (by: number) => string;
}

/** Formats costs and their differences. */
export const money = { show: cost, exact: exactCost, compare: costDifference };

/** Describes how much more or less the second side has. */
export function difference(by: number, show: (value: number) => string): string {
  if (by === 0) return 'same';
  return `${by > 0 ? '+' : '−'}${show(Math.abs(by))}`;
}

/** Describes a difference in cost. Below a cent it uses words, because "−<$0.01" reads like a formula. */
export function costDifference(by: number): string {
  if (by !== 0 && Math.abs(by) < 0.01) return `less than $0.01 ${by > 0 ? 'more' : 'less'}`;
  return difference(by, cost);
}
