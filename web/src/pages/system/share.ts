import type { Usage } from '@/api/types';

type Row = { usage: Usage };

/** Each row's part of the whole, from 0 to 1: of the cost, or of the tokens where nothing cost anything. */
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
