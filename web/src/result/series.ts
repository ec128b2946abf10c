/**
 * Parses metrics from a tool's result: the response of Prometheus's API to a range query, either bare as prometheus-mcp
 * returns it or inside its status envelope. Results are untrusted: anything else is not parsed, and what is drawn is
 * bounded.
 */
import { depthOf } from '@/text/payload';

export interface Series {
  /** The labels that distinguish it from the others, or all if it is the only one. */
  name: string;
  last: number | null;
  least: number | null;
  most: number | null;
}

export interface SeriesSet {
  series: readonly Series[];
  /** In seconds, ascending. */
  times: readonly number[];
  /** One list per series, with one value per time; null if there is none. */
  values: readonly (readonly (number | null)[])[];
  /** How many series are left out. */
  more: number;
  /** Whether only every nth point is kept. */
  thinned: boolean;
  /** Whether the result was cut, so that only the series before the cut are here. */
  partial: boolean;
}

const mostSeries = 10;
/** The most points that Prometheus returns per series. */
const mostPoints = 11_000;
const longestText = 2_000_000;
const deepest = 12;
const longestName = 200;
/** The year 5138; larger numbers are not times. */
const latest = 1e11;
/** Outside these limits a scale has no marks that a number can represent. */
const largest = 1e30;
const smallest = 1e-20;

interface Raw {
  metric: Record<string, unknown>;
  values: readonly unknown[];
}

export function seriesOf(text: string): SeriesSet | undefined {
  const start = text.slice(0, 200).trimStart()[0];
  if ((start !== '{' && start !== '[') || text.length > longestText || !text.includes('"values"')) return undefined;
  const whole = matrixOf(parse(text));
  const raw = whole ?? matrixOf(beforeCut(text));
  return raw === undefined ? undefined : drawable(raw, whole === undefined);
}

function parse(text: string): unknown {
  if (depthOf(text) > deepest) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Parses the series that are complete before the server's cut. */
function beforeCut(text: string): unknown {
  const note = text.search(/\n\[(?:… )?cut: /);
  const end = note < 0 ? -1 : text.lastIndexOf(']]}', note);
  if (end < 0) return undefined;
  const kept = text.slice(0, end + 3);
  for (const closing of [']}', ']}}', ']']) {
    const value = parse(kept + closing);
    if (value !== undefined) return value;
  }
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function matrixOf(value: unknown): Raw[] | undefined {
  const data = isObject(value) && isObject(value.data) ? value.data : value;
  const result = isObject(data) ? data.result : data;
  if (isObject(data) && data.resultType !== 'matrix') return undefined;
  if (!Array.isArray(result) || result.length === 0) return undefined;
  const raw: Raw[] = [];
  for (const each of result) {
    if (!isObject(each) || !isObject(each.metric) || !Array.isArray(each.values)) return undefined;
    raw.push({ metric: each.metric, values: each.values });
  }
  return raw;
}

function drawable(raw: readonly Raw[], partial: boolean): SeriesSet | undefined {
  const drawn = raw.slice(0, mostSeries);
  const step = Math.max(1, ...drawn.map(({ values }) => Math.ceil(values.length / mostPoints)));
  const points = drawn.map(({ values }) => pointsOf(values, step));
  const times = [...new Set(points.flatMap((each) => [...each.keys()]))].sort((a, b) => a - b);
  if (times.length < 2) return undefined;
  const names = namesOf(drawn);
  const values = points.map((each) => times.map((time) => each.get(time) ?? null));
  return {
    series: drawn.map((_, index) => ({ name: names[index] ?? '', ...extremes(values[index] ?? []) })),
    times,
    values,
    more: raw.length - drawn.length,
    thinned: step > 1,
    partial,
  };
}

/** Returns values by time. NaN and infinities cannot be drawn: they are gaps. */
function pointsOf(values: readonly unknown[], step: number): Map<number, number | null> {
  const points = new Map<number, number | null>();
  for (let at = 0; at < values.length; at += step) {
    const pair = values[at];
    if (!Array.isArray(pair) || typeof pair[0] !== 'number' || pair[0] < 0 || pair[0] > latest) continue;
    points.set(pair[0], numberOf(pair[1]));
  }
  return points;
}

function numberOf(value: unknown): number | null {
  const text = typeof value === 'string' ? value.trim() : value;
  if (text === '' || (typeof text !== 'string' && typeof text !== 'number')) return null;
  const number = Number(text);
  if (!(Math.abs(number) <= largest)) return null;
  return Math.abs(number) < smallest ? 0 : number;
}

function extremes(values: readonly (number | null)[]): Omit<Series, 'name'> {
  let last: number | null = null;
  let least: number | null = null;
  let most: number | null = null;
  for (const value of values) {
    if (value === null) continue;
    last = value;
    if (least === null || value < least) least = value;
    if (most === null || value > most) most = value;
  }
  return { last, least, most };
}

/** Returns names as Prometheus writes them, without the labels common to all series. */
function namesOf(raw: readonly Raw[]): string[] {
  const labels = raw.map(({ metric }) => Object.entries(metric).slice(0, 50));
  const same = (key: string, value: unknown) => raw.length > 1 && raw.every(({ metric }) => metric[key] === value);
  return labels.map((pairs, index) => {
    const own = pairs.filter(([key, value]) => !same(key, value));
    const metric = own.find(([key]) => key === '__name__')?.[1];
    const rest = own
      .filter(([key]) => key !== '__name__')
      .map(([key, value]) => `${key}="${typeof value === 'string' ? value : '…'}"`);
    const name = `${typeof metric === 'string' ? metric : ''}${rest.length > 0 ? `{${rest.join(', ')}}` : ''}`;
    return (name || `Series ${index + 1}`).slice(0, longestName);
  });
}
