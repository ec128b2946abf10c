/**
 * A small line chart of series, drawn by uPlot. Loaded when a result has series; the table below shows their numbers.
 */
import { useCallback, useEffectEvent, useRef, useState } from 'react';
import type UPlot from 'uplot';
import { dateTime } from '@/text/format';
import { useZone, type Zone } from '@/text/zone';
import { plotLook, usePlot } from '@/ui/plot';
import { shortNumber, timeFormat, timeMarks, valueRange } from './axis';
import type { SeriesSet } from './series';

const height = 160;
/** Colours from styles.css; further lines are dashed. */
const colours = ['accent', 'running', 'found', 'warn', 'bad', 'good', 'idle'];
const colourOf = (index: number) => colours[index % colours.length] ?? 'ink';
const isDashed = (index: number) => index >= colours.length;

export function SeriesChart({ set }: { set: SeriesSet }) {
  const zone = useZone();
  const place = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const hover = useEffectEvent((index: number | null | undefined) => setPointed(index ?? null));
  const make = useCallback(
    (width: number) => ({
      options: optionsOf(set, zone, width, hover),
      data: [set.times, ...set.values] as unknown as UPlot.AlignedData,
    }),
    [set, zone],
  );
  usePlot(place, make);
  const at = (time: number | undefined) => dateTime(new Date((time ?? 0) * 1000), zone);
  const range = `${at(set.times[0])} to ${at(set.times.at(-1))}`;
  const time = pointed === null ? undefined : set.times[pointed];
  return (
    <figure data-testid="series-chart" className="max-w-4xl min-w-0 rounded-md border border-line bg-surface p-2">
      <div
        ref={place}
        role="img"
        aria-label={`Line chart of ${set.series.length} series, ${range}. The table has the numbers.`}
        className="h-[160px] w-full overflow-hidden"
      />
      <figcaption className="mt-1 text-xs text-ink-soft tabular-nums">
        {time === undefined ? range : at(time)}
      </figcaption>
      <table className="mt-1 w-full table-fixed text-xs tabular-nums">
        <thead className="text-left text-ink-faint">
          <tr>
            <th scope="col" className="font-normal">
              Series
            </th>
            {[time === undefined ? 'Last' : 'Value', 'Lowest', 'Highest'].map((name) => (
              <th key={name} scope="col" className="w-18 text-right font-normal">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {set.series.map((series, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two series may have the same name
            <tr key={index} className="align-top">
              <th scope="row" className="flex min-w-0 gap-1.5 text-left font-normal">
                <Swatch index={index} />
                <span className="min-w-0 font-mono [overflow-wrap:anywhere]">{series.name}</span>
              </th>
              <td className="text-right">
                {shortNumber(pointed === null ? series.last : set.values[index]?.[pointed])}
              </td>
              <td className="text-right">{shortNumber(series.least)}</td>
              <td className="text-right">{shortNumber(series.most)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {notes(set).map((note) => (
        <p key={note} className="mt-1 text-xs text-ink-soft">
          {note}
        </p>
      ))}
    </figure>
  );
}

function notes(set: SeriesSet): string[] {
  const found: string[] = [];
  if (set.more > 0) found.push(`${set.more.toLocaleString()} more series not drawn. Switch to Text to read them.`);
  if (set.partial) found.push('The result was cut; only the series before the cut are drawn.');
  if (set.thinned) found.push('Too many points: only some of them are drawn.');
  return found;
}

function Swatch({ index }: { index: number }) {
  return (
    <svg aria-hidden="true" viewBox="0 0 14 4" className="mt-1.5 h-1 w-3.5 shrink-0">
      <line
        x1="0"
        x2="14"
        y1="2"
        y2="2"
        stroke={`var(--${colourOf(index)})`}
        strokeWidth="3"
        strokeDasharray={isDashed(index) ? '4 2' : undefined}
      />
    </svg>
  );
}

function optionsOf(
  set: SeriesSet,
  zone: Zone,
  width: number,
  hover: (index: number | null | undefined) => void,
): UPlot.Options {
  const { colour, font } = plotLook();
  const from = set.times[0] ?? 0;
  const to = set.times.at(-1) ?? 1;
  const format = timeFormat(to - from, zone);
  return {
    width,
    height,
    padding: [8, 20, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 5 } },
    scales: { x: { time: false, range: [from, to] }, y: { range: (_, least, most) => valueRange(least, most) } },
    series: [
      {},
      ...set.series.map((_, index) => ({
        stroke: colour(colourOf(index)),
        width: 1.5,
        dash: isDashed(index) ? [4, 2] : undefined,
        points: { show: set.times.length < 3 },
      })),
    ],
    axes: [
      {
        stroke: colour('ink-soft'),
        font,
        grid: { show: false },
        ticks: { show: false },
        size: 24,
        splits: (chart) => timeMarks(from, to, chart.bbox.width / devicePixelRatio / 80, zone),
        values: (_, times) => times.map((time) => format.format(time * 1000)),
      },
      {
        stroke: colour('ink-soft'),
        font,
        size: 52,
        grid: { stroke: colour('line'), width: 1 },
        ticks: { show: false },
        space: 32,
        values: (_, values) => values.map(shortNumber),
      },
    ],
    hooks: { setCursor: [(chart) => hover(chart.cursor.idx)] },
  };
}
