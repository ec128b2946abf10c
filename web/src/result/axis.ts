/** The marks and numbers of a chart of untrusted values: their count never depends on the values. */
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

/** Returns the times to mark on an axis, in seconds: round ones of the zone, at most as many as fit. */
export function timeMarks(from: number, to: number, fit: number, zone: Zone): number[] {
  const most = Math.max(2, Math.min(mostMarks, Math.floor(fit)));
  const step = steps.find((each) => (to - from) / each <= most) ?? (to - from) / most;
  const offset = timeZone(zone) === 'UTC' ? 0 : -new Date(from * 1000).getTimezoneOffset() * minute;
  const first = Math.ceil((from + offset) / step) * step - offset;
  return Array.from({ length: mostMarks + 1 }, (_, n) => first + n * step).filter((time) => time <= to);
}

/** Returns the time format for an axis of this length. */
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

/** Returns the ends of a scale, far enough apart that there are numbers between them. */
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

/** Formats a value in a few characters. Independent of the browser's language: in some, "m" means millions. */
export function shortNumber(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return value.toExponential(2);
  const [factor, unit] = units.find(([least]) => size >= least) ?? [1, ''];
  return `${Number((value / factor).toPrecision(4))}${unit}`;
}
