/** Bars, one a day, drawn by uPlot. Loaded when a page draws one; its numbers are also in the table beside it. */
import { useCallback, useEffectEvent, useRef } from 'react';
import UPlot from 'uplot';
import { dayLabel } from '@/text/format';
import { type Plot, plotLook, usePlot } from './plot';

/** A day by its name: 2026-11-15. */
export interface NamedDay {
  name: string;
}

interface DayChartProps<Day extends NamedDay> {
  days: readonly Day[];
  measure: (day: Day) => number;
  /** A value on the axis, short. */
  axisLabel: (value: number) => string;
  /** The name of a colour of styles.css. */
  colour: string;
  /** What the picture shows, for those who do not see it. */
  label: string;
  /** The day under the pointer. */
  onHover: (day: Day | null) => void;
}

const height = 200;

export function DayChart<Day extends NamedDay>({
  days,
  measure,
  axisLabel,
  colour,
  label,
  onHover,
}: DayChartProps<Day>) {
  const place = useRef<HTMLDivElement>(null);
  const hover = useEffectEvent((index: number | null | undefined) => onHover(days[index ?? -1] ?? null));
  const format = useEffectEvent(axisLabel);
  const value = useEffectEvent(measure);

  const make = useCallback(
    (width: number): Plot => ({
      options: optionsOf(days, colour, width, format, hover),
      data: [days.map((_, index) => index), days.map(value)],
    }),
    [days, colour],
  );
  usePlot(place, make);

  return (
    <div
      ref={place}
      role="img"
      aria-label={label}
      className="h-[200px] w-full overflow-hidden"
      data-testid="usage-chart"
    />
  );
}

function optionsOf(
  days: readonly NamedDay[],
  colour: string,
  width: number,
  format: (value: number) => string,
  hover: (index: number | null | undefined) => void,
): UPlot.Options {
  const { colour: named, font } = plotLook();
  const ink = named('ink-soft');
  const line = named('line');
  const fill = named(colour);
  return {
    width,
    height,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: [-0.5, days.length - 0.5] },
      y: { range: (_, __, highest) => [0, highest > 0 ? highest * 1.05 : 1] },
    },
    series: [
      {},
      { fill, stroke: fill, width: 0, points: { show: false }, paths: UPlot.paths.bars?.({ size: [0.7, 40] }) },
    ],
    axes: [
      {
        stroke: ink,
        font,
        grid: { show: false },
        ticks: { show: false },
        space: 56,
        size: 28,
        incrs: [1, 2, 7, 14, 30],
        values: (_, places) => places.map((index) => dayLabel(days[index]?.name ?? '')),
      },
      {
        stroke: ink,
        font,
        size: 56,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        space: 36,
        values: (_, places) => places.map(format),
      },
    ],
    hooks: { setCursor: [(chart) => hover(chart.cursor.idx)] },
  };
}
