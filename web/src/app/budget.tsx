/** The rest of today's budget, if the configuration sets one. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Wallet } from 'lucide-react';
import * as queries from '@/api/queries';
import type { UsageSummary } from '@/api/types';
import { cost, exactCost } from '@/text/format';
import { cn } from '@/ui/cn';
import { useMedia } from '@/ui/media';
import { useNow } from '@/ui/now';

/** How often the total is reloaded if there is a budget. */
const every = 30_000;

/** Returns the cost of sessions since midnight UTC. Notes do not count towards the budget. */
export function spentBySessions(usage: Pick<UsageSummary, 'by_kind'>): number {
  return usage.by_kind.find(({ name }) => name === 'sessions')?.usage.cost_usd ?? 0;
}

export function BudgetLeft() {
  // There is no space for it on a phone.
  const room = useMedia('(min-width: 64rem)');
  const midnight = `${useNow(60_000).toISOString().slice(0, 10)}T00:00:00.000Z`;
  const usage = useQuery({
    ...queries.usageSummary(midnight),
    enabled: room,
    refetchInterval: ({ state }) => (state.data?.daily_budget_usd ? every : false),
  });
  const limit = usage.data?.daily_budget_usd ?? 0;
  if (!room || limit === 0 || usage.data === undefined) return null;
  const spent = spentBySessions(usage.data);
  const left = Math.max(0, limit - spent);
  const description = `${exactCost(spent)} of ${cost(limit)} spent since 00:00 UTC`;
  return (
    <Link
      to="/system"
      search={{ tab: 'usage' }}
      title={description}
      aria-label={`Budget of today: ${cost(left)} left. ${description}`}
      className={cn(
        'flex h-7 shrink-0 items-center gap-1.5 rounded-md px-1.5 text-xs whitespace-nowrap text-ink-soft tabular-nums hover:text-ink hover:underline',
        left < limit / 10 && 'bg-warn-soft font-medium text-warn hover:text-warn',
      )}
      data-testid="budget-left"
    >
      <Wallet className="size-3.5" aria-hidden />
      {left === 0 ? 'Budget spent' : `${cost(left)} left`}
    </Link>
  );
}
