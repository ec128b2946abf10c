/** What is left of today's budget, where the configuration has one. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Wallet } from 'lucide-react';
import * as queries from '@/api/queries';
import type { Setting, UsageSummary } from '@/api/types';
import { cost, exactCost } from '@/text/format';
import { cn } from '@/ui/cn';
import { useMedia } from '@/ui/media';
import { useNow } from '@/ui/now';

const setting = 'system.budgets.daily.max_cost_usd';

/** The limit of a day in dollars; 0 where there is none. */
export function dailyLimit(settings: readonly Pick<Setting, 'path' | 'value'>[]): number {
  const limit = Number(settings.find(({ path }) => path === setting)?.value ?? 0);
  return Number.isFinite(limit) && limit > 0 ? limit : 0;
}

/** What sessions cost since midnight in UTC. Notes do not count towards the budget. */
export function spentBySessions(usage: Pick<UsageSummary, 'by_kind'>): number {
  return usage.by_kind.find(({ name }) => name === 'sessions')?.usage.cost_usd ?? 0;
}

export function BudgetLeft() {
  // On a phone there is no room for it, and the configuration is not worth its loading time there.
  const room = useMedia('(min-width: 64rem)');
  const settings = useQuery({ ...queries.settings(), enabled: room, staleTime: Number.POSITIVE_INFINITY });
  const limit = settings.data === undefined ? 0 : dailyLimit(settings.data.settings);
  const midnight = `${useNow(60_000).toISOString().slice(0, 10)}T00:00:00.000Z`;
  const usage = useQuery({ ...queries.usageSummary(midnight), enabled: room && limit > 0, refetchInterval: 30_000 });
  if (!room || limit === 0 || usage.data === undefined) return null;
  const spent = spentBySessions(usage.data);
  const left = Math.max(0, limit - spent);
  const told = `${exactCost(spent)} of ${cost(limit)} spent since 00:00 UTC`;
  return (
    <Link
      to="/system"
      search={{ tab: 'usage' }}
      title={told}
      aria-label={`Budget of today: ${cost(left)} left. ${told}`}
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
