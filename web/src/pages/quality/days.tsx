/** Quality by day: as pictures, or as the table that they were drawn from. */
import { useState } from 'react';
import type { Quality, QualityRow } from '@/api/types';
import { axisCost, cost, dayLabel, duration, percent } from '@/text/format';
import { Button } from '@/ui/button';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { type Column, Table } from '@/ui/table';
import { Trend } from '@/ui/trend';
import { numbers } from './rows';

const columns: readonly Column<QualityRow>[] = [
  { name: 'Day (UTC)', heading: true, cell: (row) => <time dateTime={row.key}>{dayLabel(row.key)}</time> },
  ...numbers,
];

export function DaysCard({ quality }: { quality: Quality }) {
  const [asTable, setAsTable] = useState(false);
  const days = quality.days.map((row) => ({ ...row, name: row.key }));
  return (
    <Card aria-label="Over time">
      <CardHeader>
        <CardTitle>Over time</CardTitle>
        <Button
          size="sm"
          className="ml-auto"
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
          data-testid="quality-as-table"
        >
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </CardHeader>
      {asTable ? (
        <Table
          caption="Quality by day"
          columns={columns}
          rows={days.toReversed()}
          rowKey={(row) => row.key}
          testId="quality-day"
        />
      ) : (
        <CardBody className="grid gap-6 lg:grid-cols-3">
          <Trend
            days={days}
            title="Agreement"
            none="Nobody has rated a verdict in this period."
            measure={(day) => day.agreement ?? 0}
            textOf={(day) => (day.agreement === null ? 'no ratings' : percent(day.agreement))}
            axisLabel={percent}
            colour="accent"
          />
          <Trend
            days={days}
            title="Time to verdict"
            none="No session completed."
            measure={(day) => day.time_to_verdict_p50_ms ?? 0}
            textOf={(day) => duration(day.time_to_verdict_p50_ms ?? 0)}
            axisLabel={duration}
            colour="running"
          />
          <Trend
            days={days}
            title="Cost per alert"
            none="No usage with a known price."
            measure={(day) => day.cost_per_alert_usd ?? 0}
            textOf={(day) => cost(day.cost_per_alert_usd ?? 0)}
            axisLabel={axisCost}
            colour="found"
          />
        </CardBody>
      )}
    </Card>
  );
}
