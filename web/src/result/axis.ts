/** Marks and numbers of a chart of untrusted values: how many there are never depends on the values. */
import { timeZone, type Zone } from '@/text/zone';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;
const steps = [
  ...[1, 2, 5, 10, 15, 30],
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * day),
];
const mostMarks = 12;

/** The times, in seconds, that are named on an axis: even ones of the zone, no more than fit. */
export function timeMarks(from: number, to: number, fit: number, zone: Zone): number[] {
  const most = Math.max(2, Math.min(mostMarks, Math.floor(fit)));
  const step = steps.find((each) => (to - from) / each <= most) ?? (to - from) / most;
  const offset = timeZone(zone) === 'UTC' ? 0 : -new Date(from * 1000).getTimezoneOffset() * minute;
  const first = Math.ceil((from + offset) / step) * step - offset;
  return Array.from({ length: mostMarks + 1 }, (_, n) => first + n * step).filter((time) => time <= to);
}

/** Times as an axis of that length names them. */
export function timeFormat(span: number, zone: Zone): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(undefined, {
    timeZone: timeZone(zone),
    hourCycle: 'h23',
    ...(span <= 2 * day && ({ hour: '2-digit', minute: '2-digit' } as const)),
    ...(span <= 5 * minute && ({ second: '2-digit' } as const)),
    ...(span > day && ({ month: 'short', day: 'numeric' } as const)),
    ...(span > 365 * day && ({ year: 'numeric' } as const)),
  });
}

/** The ends of a scale: never so close to each other that there is no number between them. */
export function valueRange(least: number | null, most: number | null): [number, number] {
  if (least === null || most === null || !Number.isFinite(least) || !Number.isFinite(most)) return [0, 1];
  const size = Math.max(Math.abs(least), Math.abs(most));
  const pad = Math.max((most - least) * 0.08, size * 1e-6);
  if (pad === 0) return [0, 1];
  const low = least - pad;
  return [least >= 0 && low < 0 ? 0 : low, most + pad];
}

const units: readonly (readonly [number, string])[] = [
  [1e12, 'T'],
  [1e9, 'G'],
  [1e6, 'M'],
  [1e3, 'k'],
];

/** A value in few characters. Not by the browser's language: in some an "m" stands for millions. */
export function shortNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(2);
  const [factor, unit] = units.find(([least]) => size >= least) ?? [1, ''];
  return `${Number((value / factor).toPrecision(4))}${unit}`;
}
