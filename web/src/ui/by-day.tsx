/** Numbers by day, as charts or as the table behind them. */
import { useState } from 'react';
import { dayLabel } from '@/text/format';
import { Button } from './button';
import { Card, CardBody, CardHeader, CardTitle } from './card';
import { cn } from './cn';
import type { NamedDay } from './day-chart';
import { type Column, Table } from './table';
import { Trend, type TrendOf } from './trend';

export function ByDay<Day extends NamedDay>({
  title,
  caption,
  days,
  trends,
  columns,
  testId,
}: {
  title: string;
  /** The accessible name of the card and of the table. */
  caption: string;
  /** Earliest first; the table shows the latest first. */
  days: readonly Day[];
  /** The charts. */
  trends: readonly TrendOf<Day>[];
  /** The columns of the table after the day's name. */
  columns: readonly Column<Day>[];
  /** The test id of the table's rows; the switch has `TESTID-as-table`. */
  testId: string;
}) {
  const [asTable, setAsTable] = useState(false);
  return (
    <Card aria-label={caption}>
      <CardHeader>
        <CardTitle>{title}</CardTitle>
        <Button
          size="sm"
          className="ml-auto"
          aria-pressed={asTable}
          onClick={() => setAsTable(!asTable)}
          data-testid={`${testId}-as-table`}
        >
          {asTable ? 'Show as chart' : 'Show as table'}
        </Button>
      </CardHeader>
      {asTable ? (
        <Table
          caption={caption}
          columns={[dayColumn, ...columns]}
          rows={days.toReversed()}
          rowKey={(day) => day.name}
          testId={`${testId}-day`}
        />
      ) : (
        <CardBody className={cn('grid gap-6', trends.length > 2 ? 'lg:grid-cols-3' : 'xl:grid-cols-2')}>
          {trends.map((trend) => (
            <Trend key={trend.title} days={days} {...trend} />
          ))}
        </CardBody>
      )}
    </Card>
  );
}

const dayColumn: Column<NamedDay> = {
  name: 'Day (UTC)',
  heading: true,
  cell: (day) => <time dateTime={day.name}>{dayLabel(day.name)}</time>,
};
