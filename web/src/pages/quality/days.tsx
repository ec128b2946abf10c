/** Quality by day. */
import type { Quality, QualityRow } from '@/api/types';
import { axisCost, cost, duration, percent } from '@/text/format';
import { ByDay } from '@/ui/by-day';
import type { TrendOf } from '@/ui/trend';
import { numbers } from './rows';

const trends: readonly TrendOf<QualityRow>[] = [
  {
    title: 'Agreement',
    none: 'Nobody has rated a verdict in this period.',
    measure: (day) => day.agreement ?? 0,
    textOf: (day) => (day.agreement === null ? 'no ratings' : percent(day.agreement)),
    axisLabel: percent,
    colour: 'accent',
  },
  {
    title: 'Time to verdict',
    none: 'No session completed.',
    measure: (day) => day.time_to_verdict_p50_ms ?? 0,
    textOf: (day) => duration(day.time_to_verdict_p50_ms ?? 0),
    axisLabel: duration,
    colour: 'running',
  },
  {
    title: 'Cost per alert',
    none: 'No usage with a known price.',
    measure: (day) => day.cost_per_alert_usd ?? 0,
    textOf: (day) => cost(day.cost_per_alert_usd ?? 0),
    axisLabel: axisCost,
    colour: 'found',
  },
];

export function DaysCard({ quality }: { quality: Quality }) {
  const days = quality.days.map((row) => ({ ...row, name: row.key }));
  return (
    <ByDay title="Over time" caption="Quality by day" days={days} trends={trends} columns={numbers} testId="quality" />
  );
}
