import type { Usage } from '@/api/types';
import { cost, exactCost, spent, tokens } from '@/text/format';

/** A cost in cents; the tooltip has the exact value and the tokens without a price. */
export function Cost({ usage }: { usage: Pick<Usage, 'cost_usd' | 'unpriced_tokens'> }) {
  const unpriced = usage.unpriced_tokens > 0 ? `; ${tokens(usage.unpriced_tokens)} tokens have no known price` : '';
  return <span title={exactCost(usage.cost_usd) + unpriced}>{spent(usage)}</span>;
}

/** An amount in cents; the tooltip has the exact value. Null means that no price is known. */
export function Dollars({ usd }: { usd: number | null }) {
  if (usd === null) return <span title="No price is known">–</span>;
  return <span title={exactCost(usd)}>{cost(usd)}</span>;
}
