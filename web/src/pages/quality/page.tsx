/** How good the conclusions are: how people rate them, how long they take, and what they cost. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Gauge, Send } from 'lucide-react';
import { type ReactNode, useCallback } from 'react';
import * as queries from '@/api/queries';
import type { Quality } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { pages } from '@/app/navigation';
import { useTitle } from '@/app/title';
import { counted } from '@/text/format';
import { Answer } from '@/ui/answer';
import { Button } from '@/ui/button';
import { Card, CardBody } from '@/ui/card';
import { Dollars } from '@/ui/cost';
import { EmptyState } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { Segmented } from '@/ui/segmented';
import { DaysCard } from './days';
import { OutcomesCard } from './outcomes';
import { RowsCard } from './rows';
import { groupings, groupingWords, type Period, periods, type QualityPageSearch } from './search';
import { agreementOf, opinions, ratingsOf, sessionsOf, timeOf } from './words';

const route = getRouteApi('/shell/quality');
/** Defaults, omitted from the address. */
const defaults = { days: 30, by: 'chain' } as const;
const dayMs = 86_400_000;

export function QualityPage() {
  useTitle(pages.quality.label);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = useCallback(
    (part: QualityPageSearch) => void navigate({ search: (last) => ({ ...last, ...part }), resetScroll: false }),
    [navigate],
  );
  const { days = defaults.days, by = defaults.by } = search;
  const now = useNow(60_000);
  // From midnight UTC, so that the query stays the same all day and the first day is complete.
  const from = new Date((Math.floor(now.getTime() / dayMs) - days + 1) * dayMs).toISOString();
  const quality = useQuery({ ...queries.quality(from, by), placeholderData: (before) => before });
  usePageCommands([
    ...groupings
      .filter((other) => other !== by)
      .map((other) => ({
        id: `by ${other}`,
        label: `Quality by ${groupingWords[other].toLowerCase()}`,
        icon: <Gauge aria-hidden />,
        run: () => change({ by: other === defaults.by ? undefined : other }),
      })),
    ...periods
      .filter((other) => other !== days)
      .map((other) => ({
        id: `days ${other}`,
        label: `Quality of the last ${other} days`,
        icon: <Gauge aria-hidden />,
        run: () => change({ days: other === defaults.days ? undefined : other }),
      })),
  ]);
  return (
    <div className="mx-auto w-full max-w-[150rem] space-y-4 p-3 sm:p-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <h1 className="text-lg font-semibold">{pages.quality.label}</h1>
        <Segmented
          label="Period"
          value={String(days)}
          options={periods.map((period) => ({ value: String(period), label: `${period} days` }))}
          onChange={(value) => change({ days: periods.find((p) => p !== defaults.days && String(p) === value) })}
          data-testid="quality-period"
          data-palette="none"
        />
        <Segmented
          label="By"
          value={by}
          options={groupings.map((grouping) => ({ value: grouping, label: groupingWords[grouping] }))}
          onChange={(value) => change({ by: value === defaults.by ? undefined : value })}
          data-testid="quality-by"
          data-palette="none"
        />
        <span className="text-xs text-ink-soft">Days start at 00:00 UTC.</span>
      </div>
      <Answer query={quality} what="quality" rows={8}>
        {(data) =>
          data.total.sessions === 0 ? (
            <Nothing days={days} />
          ) : (
            <div className="space-y-4">
              <Totals quality={data} />
              <div className="grid items-start gap-4 xl:grid-cols-[minmax(0,1fr)_minmax(0,2fr)]">
                <OutcomesCard quality={data} />
                <DaysCard quality={data} />
              </div>
              <RowsCard quality={data} by={by} />
            </div>
          )
        }
      </Answer>
    </div>
  );
}

function Nothing({ days }: { days: Period }) {
  return (
    <EmptyState title={<h2>No sessions completed in the last {days} days</h2>} icon={<Gauge aria-hidden />}>
      <p>
        Outcomes, time and cost appear here after alerts are investigated. Agreement appears after people rate verdicts:
        on the page of a session, with <code className="font-mono text-xs">tarsy feedback</code>, or in Discord.
      </p>
      <Button asChild className="mt-3">
        <Link to="/submit">
          <Send aria-hidden /> Submit alert
        </Link>
      </Button>
    </EmptyState>
  );
}

function Totals({ quality: { total } }: { quality: Quality }) {
  return (
    <Card aria-label="All sessions of the period">
      <CardBody>
        <dl className="grid grid-cols-2 gap-4 lg:grid-cols-4" data-testid="quality-total">
          <Total name="Sessions" note={sessionsOf(total)}>
            {total.sessions.toLocaleString()}
          </Total>
          <Total
            name="Agreement"
            note={opinions(total) === 0 ? 'Rate a verdict on the page of its session' : ratingsOf(total)}
          >
            {agreementOf(total)}
          </Total>
          <Total name="Time to verdict, median" note={`95th percentile ${timeOf(total.time_to_verdict_p95_ms)}`}>
            {timeOf(total.time_to_verdict_p50_ms)}
          </Total>
          <Total
            name="Cost per alert"
            note={
              <>
                <Dollars usd={total.cost_usd} /> for {counted(total.sessions, 'session')}
              </>
            }
          >
            <Dollars usd={total.cost_per_alert_usd} />
          </Total>
        </dl>
      </CardBody>
    </Card>
  );
}

function Total({ name, note, children }: { name: string; note: ReactNode; children: ReactNode }) {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-xs text-ink-soft">{name}</dt>
      <dd className="text-xl font-semibold tabular-nums">{children}</dd>
      <dd className="text-xs text-ink-soft">{note}</dd>
    </div>
  );
}
