/**
 * A bar chart with one bar per day, drawn by uPlot. Loaded on first use; the table beside it shows the same numbers.
 */
import { useCallback, useEffectEvent, useRef } from 'react';
import UPlot from 'uplot';
import { dayLabel } from '@/text/format';
import { type Plot, plotLook, usePlot } from './plot';

/** A day by name: 2026-11-15. */
export interface NamedDay {
  name: string;
}

interface DayChartProps<Day extends NamedDay> {
  days: readonly Day[];
  measure: (day: Day) => number;
  /** Formats a value on the axis. */
  axisLabel: (value: number) => string;
  /** The name of a colour in styles.css. */
  colour: string;
  /** Describes the chart for screen readers. */
  label: string;
  /** Called with the day under the pointer. */
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
