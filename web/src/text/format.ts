/** Formats numbers and times for people. In one place, so that a value looks the same on every page. */
import type { Usage } from '@/api/types';
import { age } from './age';
import { withoutMarkdown } from './plain';
import { timeZone, type Zone } from './zone';

export { age };

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Formats a duration in at most two units: 240 ms, 4.2 s, 3 m 05 s, 2 h 10 m. */
export function duration(ms: number): string {
  const span = Math.max(0, ms);
  if (span < second) return `${Math.round(span)} ms`;
  if (span < 10 * second) return `${(span / second).toFixed(1)} s`;
  if (span < minute) return `${Math.floor(span / second)} s`;
  const two = (n: number) => String(n).padStart(2, '0');
  if (span < hour) return `${Math.floor(span / minute)} m ${two(Math.floor((span % minute) / second))} s`;
  if (span < day) return `${Math.floor(span / hour)} h ${two(Math.floor((span % hour) / minute))} m`;
  return `${Math.floor(span / day)} d ${Math.floor((span % day) / hour)} h`;
}

/** Formats an age with "ago", where no heading makes clear that it is in the past. */
export function ago(from: string | Date, now: Date): string {
  const span = age(from, now);
  return span === 'now' ? 'just now' : `${span} ago`;
}

/** Returns how long something ran, or has been running. */
export function elapsed(started: string | null | undefined, ended: string | null | undefined, now: Date): number {
  if (!started) return 0;
  return (ended ? new Date(ended) : now).getTime() - new Date(started).getTime();
}

/** Formats dollars and cents. A cost below a cent is not zero: ui/cost.tsx shows the exact value in a tooltip. */
export function cost(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return '<$0.01';
  return `$${dollars.toFixed(2)}`;
}

/** Formats a cost to a millionth of a dollar, without trailing zeros after the cents. */
export function exactCost(dollars: number): string {
  return `$${dollars.toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}

/** Formats a cost on an axis, where two marks may be less than a cent apart. */
export function axisCost(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? exactCost(dollars) : cost(dollars);
}

/** Formats the cost of some usage. Tokens without a known price are not free: "$0.56+" if some have none. */
export function spent(usage: Pick<Usage, 'cost_usd' | 'unpriced_tokens'>): string {
  if (usage.unpriced_tokens <= 0) return cost(usage.cost_usd);
  return usage.cost_usd > 0 ? `${cost(usage.cost_usd)}+` : 'no price';
}

export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  if (count < 1_000_000) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

/** Formats a count: 1 call, 2 calls. */
export function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}

/** Formats a share from 0 to 1 as a percentage. */
export function percent(part: number): string {
  if (part > 0 && part < 0.01) return '<1%';
  return `${Math.round(part * 100)}%`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1024 / 1024).toFixed(2)} MiB`;
}

/** Returns the end of an id, as the CLI shows it: ids of the same minute start alike. */
export function shortId(id: string): string {
  return id.slice(-12);
}

const time = {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
  timeZoneName: 'short',
} as const satisfies Intl.DateTimeFormatOptions;
const date = { year: 'numeric', month: 'short', day: 'numeric' } as const satisfies Intl.DateTimeFormatOptions;

/** Created once per zone: creating a formatter for every row of a long list would be slow. */
function formats(options: Intl.DateTimeFormatOptions): Record<Zone, Intl.DateTimeFormat> {
  const formatIn = (chosen: Zone) => new Intl.DateTimeFormat(undefined, { ...options, timeZone: timeZone(chosen) });
  return { local: formatIn('local'), utc: formatIn('utc') };
}
const clock = formats(time);
const calendar = formats({ ...date, ...time });
const monthDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/**
 * Formats a time as 14:05:09 UTC. Pass the zone of useZone, so that the caller re-renders when it changes. ui/time.tsx
 * has components.
 */
export function clockTime(at: string | Date, zone: Zone): string {
  return clock[zone].format(new Date(at));
}

export function dateTime(at: string | Date, zone: Zone): string {
  return calendar[zone].format(new Date(at));
}

/** Returns "Nov 15" for the UTC day 2026-11-15; a name that is not a day is returned unchanged. */
export function dayLabel(name: string): string {
  const at = Date.parse(`${name}T00:00:00Z`);
  return Number.isNaN(at) ? name : monthDay.format(at);
}

/** Adds the year unless it is the current one: a date long past must not look like an upcoming one. */
export function dueLabel(name: string, now = new Date()): string {
  const year = name.slice(0, 4);
  return year === String(now.getFullYear()) ? dayLabel(name) : `${dayLabel(name)} ${year}`;
}

/** Returns the beginning of a text without splitting a surrogate pair. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/**
 * Returns the first line of a text, without Markdown syntax, for a one-line row. Wrapped lines are joined: models wrap
 * their sentences anywhere.
 */
export function firstLine(text: string, longest = 240): string {
  const joined = text.slice(0, 4000).replace(/^(?![\s#|>-])(.*\S)[ \t]*\n(?=[\p{L}\p{N}(`])/gmu, '$1 ');
  const line = joined.split('\n').find((candidate) => /[\p{L}\p{N}]/u.test(candidate)) ?? '';
  const plain = withoutMarkdown(line);
  return plain.length > longest ? `${beginning(plain, longest)}…` : plain;
}
