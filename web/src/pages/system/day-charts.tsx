/** Cost and tokens by day: as pictures, or as the table that they were drawn from. */
import { useState } from 'react';
import { axisCost, spent, tokens } from '@/text/format';
import { Button } from '@/ui/button';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { Cost } from '@/ui/cost';
import { type Column, Table } from '@/ui/table';
import { Trend } from '@/ui/trend';
import type { Day } from './days';

const usageOf = (day: Day) => ({ cost_usd: day.cost, unpriced_tokens: day.unpriced });
const spentOn = (day: Day) => spent(usageOf(day));

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
          <Trend
            days={days}
            title="Cost"
            none="No usage with a known price."
            measure={(day) => day.cost}
            textOf={spentOn}
            axisLabel={axisCost}
            colour="accent"
          />
          <Trend
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
