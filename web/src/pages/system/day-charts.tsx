/** Cost and tokens by day. */
import { axisCost, spent, tokens } from '@/text/format';
import { ByDay } from '@/ui/by-day';
import { Cost } from '@/ui/cost';
import type { Column } from '@/ui/table';
import type { TrendOf } from '@/ui/trend';
import type { Day } from './days';

const usageOf = (day: Day) => ({ cost_usd: day.cost, unpriced_tokens: day.unpriced });

const columns: readonly Column<Day>[] = [
  { name: 'Cost', number: true, cell: (day) => <Cost usage={usageOf(day)} /> },
  { name: 'Tokens', number: true, cell: (day) => day.tokens.toLocaleString() },
  { name: 'LLM calls', number: true, cell: (day) => day.llmCalls.toLocaleString() },
  { name: 'Tool calls', number: true, cell: (day) => day.toolCalls.toLocaleString() },
];

const trends: readonly TrendOf<Day>[] = [
  {
    title: 'Cost',
    none: 'No usage with a known price.',
    measure: (day) => day.cost,
    textOf: (day) => spent(usageOf(day)),
    axisLabel: axisCost,
    colour: 'accent',
  },
  {
    title: 'Tokens',
    none: 'No tokens used.',
    measure: (day) => day.tokens,
    textOf: (day) => day.tokens.toLocaleString(),
    axisLabel: tokens,
    colour: 'running',
  },
];

export function DayCharts({ days }: { days: readonly Day[] }) {
  return <ByDay title="By day" caption="Usage by day" days={days} trends={trends} columns={columns} testId="usage" />;
}
