/** Numbers by day: as pictures, or as the table that they were drawn from. */
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
  /** What the table is about. */
  caption: string;
  /** The earliest first; the table has the latest first. */
  days: readonly Day[];
  /** What is drawn, each in a picture of its own. */
  trends: readonly TrendOf<Day>[];
  /** The columns of the table after the day's name. */
  columns: readonly Column<Day>[];
  /** Of the table's rows; that of the switch is `TESTID-as-table`. */
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
