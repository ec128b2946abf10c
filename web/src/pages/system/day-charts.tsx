/** Cost and tokens by day: as pictures, or as the table that they were drawn from. */
import { lazy, Suspense, useState } from 'react';
import { cost, dayLabel, exactCost, spent, tokens } from '@/text/format';
import { Button } from '@/ui/button';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { Cost } from '@/ui/cost';
import { Skeleton } from '@/ui/feedback';
import { type Column, Table } from '@/ui/table';
import type { Day } from './days';

const DayChart = lazy(() => import('./chart').then((module) => ({ default: module.DayChart })));

const usageOf = (day: Day) => ({ cost_usd: day.cost, unpriced_tokens: day.unpriced });
const spentOn = (day: Day) => spent(usageOf(day));
/** Marks of an axis may be less than a cent apart. */
const axisCost = (dollars: number) => (dollars > 0 && dollars < 0.01 ? exactCost(dollars) : cost(dollars));

const columns: readonly Column<Day>[] = [
  { name: 'Day (UTC)', heading: true, cell: (day) => <time dateTime={day.name}>{day.name}</time> },
  { name: 'Cost', number: true, cell: (day) => <Cost usage={usageOf(day)} /> },
  { name: 'Tokens', number: true, cell: (day) => day.tokens.toLocaleString() },
  { name: 'LLM calls', number: true, cell: (day) => day.llmCalls.toLocaleString() },
  { name: 'Tool calls', number: true, cell: (day) => day.toolCalls.toLocaleString() },
];

export function DayCharts({ days }: { days: readonly Day[] }) {
  const [asTable, setAsTable] = useState(false);
  return (
    <Card aria-label="Usage by day">
      <CardHeader>
        <CardTitle>By day</CardTitle>
        <Button
          size="sm"
          className="ml-auto"
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
          data-testid="usage-as-table"
        >
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </CardHeader>
      {asTable ? (
        <Table
          caption="Usage by day"
          columns={columns}
          rows={days.toReversed()}
          rowKey={(day) => day.name}
          testId="usage-day"
        />
      ) : (
        <CardBody className="grid gap-6 xl:grid-cols-2">
          <Chart
            days={days}
            title="Cost"
            none="No usage with a known price."
            measure={(day) => day.cost}
            textOf={spentOn}
            axisLabel={axisCost}
            colour="accent"
          />
          <Chart
            days={days}
            title="Tokens"
            none="No tokens used."
            measure={(day) => day.tokens}
            textOf={(day) => day.tokens.toLocaleString()}
            axisLabel={tokens}
            colour="running"
          />
        </CardBody>
      )}
    </Card>
  );
}

function Chart({
  days,
  title,
  none,
  measure,
  textOf,
  axisLabel,
  colour,
}: {
  days: readonly Day[];
  title: string;
  /** Shown when there is nothing to draw. */
  none: string;
  measure: (day: Day) => number;
  textOf: (day: Day) => string;
  axisLabel: (value: number) => string;
  colour: string;
}) {
  const [pointed, setPointed] = useState<Day | null>(null);
  const highest = days.reduce<Day | undefined>(
    (best, day) => (best && measure(best) >= measure(day) ? best : day),
    undefined,
  );
  const nothing = highest === undefined || measure(highest) === 0;
  const shown = pointed ?? (nothing ? undefined : highest);
  const label = `${title} per day for ${days.length} days${highest ? `; highest: ${textOf(highest)} on ${highest.name}` : ''}. The table has the numbers.`;
  return (
    <div className="min-w-0">
      <p className="mb-1 flex items-baseline gap-2">
        <span className="font-medium">{title}</span>
        {shown && (
          <span className="ml-auto text-xs text-ink-soft tabular-nums">
            {pointed === null && 'Highest: '}
            {dayLabel(shown.name)} · {textOf(shown)}
          </span>
        )}
      </p>
      {nothing ? (
        <p className="flex h-[200px] items-center justify-center text-ink-soft">{none}</p>
      ) : (
        <Suspense fallback={<Skeleton className="h-[200px]" />}>
          <DayChart
            days={days}
            measure={measure}
            axisLabel={axisLabel}
            colour={colour}
            label={label}
            onHover={setPointed}
          />
        </Suspense>
      )}
    </div>
  );
}
