/** One number by day: a bar chart, with the hovered or the highest day as text. */
import { lazy, Suspense, useState } from 'react';
import { dayLabel } from '@/text/format';
import type { NamedDay } from './day-chart';
import { Skeleton } from './feedback';

const DayChart = lazy(() =>
  import('./day-chart').then((module) => ({ default: module.DayChart })),
) as typeof import('./day-chart').DayChart;

/** The definition of a trend. */
export interface TrendOf<Day> {
  title: string;
  /** Shown when there is nothing to draw. */
  none: string;
  measure: (day: Day) => number;
  textOf: (day: Day) => string;
  axisLabel: (value: number) => string;
  /** The name of a colour in styles.css. */
  colour: string;
}

export function Trend<Day extends NamedDay>({
  days,
  title,
  none,
  measure,
  textOf,
  axisLabel,
  colour,
}: TrendOf<Day> & { days: readonly Day[] }) {
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
      <p className="mb-1 flex flex-wrap items-baseline gap-x-2">
        <span className="font-medium whitespace-nowrap">{title}</span>
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
