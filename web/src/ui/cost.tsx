import type { Usage } from '@/api/types';
import { exactCost, spent, tokens } from '@/text/format';

/** What something cost, in cents; the tooltip has the exact value and what has no price. */
export function Cost({ usage }: { usage: Pick<Usage, 'cost_usd' | 'unpriced_tokens'> }) {
  const unpriced = usage.unpriced_tokens > 0 ? `; ${tokens(usage.unpriced_tokens)} tokens have no known price` : '';
  return <span title={exactCost(usage.cost_usd) + unpriced}>{spent(usage)}</span>;
}
