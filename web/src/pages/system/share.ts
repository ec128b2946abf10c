import type { Usage } from '@/api/types';

type Row = { usage: Usage };

/** Returns each row's share of the total, from 0 to 1: of the cost or, if nothing had a cost, of the tokens. */
export function shares(rows: readonly Row[]): { of: 'cost' | 'tokens'; parts: number[] } {
  const measure = (by: (row: Row) => number) => {
    const values = rows.map((row) => Math.max(0, by(row)) || 0);
    const whole = values.reduce((sum, value) => sum + value, 0);
    return whole > 0 ? values.map((value) => value / whole) : null;
  };
  const byCost = measure((row) => row.usage.cost_usd);
  if (byCost !== null) return { of: 'cost', parts: byCost };
  return { of: 'tokens', parts: measure((row) => row.usage.total_tokens) ?? rows.map(() => 0) };
}
