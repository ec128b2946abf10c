/** Numbers that two sides are compared by. */
import { cost, exactCost } from '@/text/format';

export interface Measure<Totals> {
  name: string;
  of: (totals: Totals) => number;
  show: (value: number) => string;
  /** For the tooltip of a value. */
  exact?: (value: number) => string;
  /** How much more or less the second side has; unless set, a sign and the value. */
  compare?: (by: number) => string;
}

/** How to show money, and how much more or less of it one side took. */
export const money = { show: cost, exact: exactCost, compare: costDifference };

/** How much more or less the second of two has. */
export function difference(by: number, show: (value: number) => string): string {
  if (by === 0) return 'same';
  return `${by > 0 ? '+' : '−'}${show(Math.abs(by))}`;
}

/** The same for money. Less than a cent is in words: "−<$0.01" reads as a formula. */
export function costDifference(by: number): string {
  if (by !== 0 && Math.abs(by) < 0.01) return `less than $0.01 ${by > 0 ? 'more' : 'less'}`;
  return difference(by, cost);
}
