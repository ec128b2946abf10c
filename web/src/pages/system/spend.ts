/** What usage cost, said honestly: tokens without a price are not free. */
import type { Usage } from '@/api/types';
import { cost } from '@/text/format';

/** "—" where nothing has a price, "$0.56+" where some of it has none. */
export function spent(usage: Pick<Usage, 'cost_usd' | 'unpriced_tokens'>): string {
  if (usage.unpriced_tokens <= 0) return cost(usage.cost_usd);
  return usage.cost_usd > 0 ? `${cost(usage.cost_usd)}+` : '—';
}

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

export function percent(part: number): string {
  if (part > 0 && part < 0.01) return '<1%';
  return `${Math.round(part * 100)}%`;
}
