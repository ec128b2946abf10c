/** Numbers and times as people read them; one place, so that the same value looks the same on every page. */
import type { Usage } from '@/api/types';
import { age } from './age';
import { withoutMarkdown } from './plain';
import { timeZone, type Zone } from './zone';

export { age };

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** A span of time in at most two units: 240 ms, 4.2 s, 3 m 05 s, 2 h 10 m. */
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

/** The same where no heading says that it is about the past. */
export function ago(from: string | Date, now: Date): string {
  const span = age(from, now);
  return span === 'now' ? 'just now' : `${span} ago`;
}

/** How long something ran, or has been running. */
export function elapsed(started: string | null | undefined, ended: string | null | undefined, now: Date): number {
  if (!started) return 0;
  return (ended ? new Date(ended) : now).getTime() - new Date(started).getTime();
}

/** Dollars and cents. What costs less than a cent is not free: ui/cost.tsx shows the exact value in a tooltip. */
export function cost(dollars: number): string {
  if (dollars > 0 && dollars < 0.01) return '<$0.01';
  return `$${dollars.toFixed(2)}`;
}

/** The same to a millionth of a dollar, without trailing zeros beyond the cents. */
export function exactCost(dollars: number): string {
  return `$${dollars.toFixed(6).replace(/(\.\d\d\d*?)0+$/, '$1')}`;
}

/** A mark of an axis: two of them may be less than a cent apart. */
export function axisCost(dollars: number): string {
  return dollars > 0 && dollars < 0.01 ? exactCost(dollars) : cost(dollars);
}

/** The cost of what was used. Tokens without a known price are not free: "$0.56+" where some have none. */
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

/** A number of things: 1 call, 2 calls. */
export function counted(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one}s`}`;
}

/** A part of the whole, from 0 to 1. */
export function percent(part: number): string {
  if (part > 0 && part < 0.01) return '<1%';
  return `${Math.round(part * 100)}%`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} KiB`;
  return `${(count / 1024 / 1024).toFixed(2)} MiB`;
}

/** The end of an id, as the command line shows it: ids of one minute begin alike. */
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

/** Made once for each zone: making one for every row of a long list is what would take the time. */
function formats(options: Intl.DateTimeFormatOptions): Record<Zone, Intl.DateTimeFormat> {
  const formatIn = (chosen: Zone) => new Intl.DateTimeFormat(undefined, { ...options, timeZone: timeZone(chosen) });
  return { local: formatIn('local'), utc: formatIn('utc') };
}
const clock = formats(time);
const calendar = formats({ ...date, ...time });
const monthDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' });

/** 14:05:09 UTC. The zone is that of useZone: whoever passes it is told when it changes. ui/time.tsx has components. */
export function clockTime(at: string | Date, zone: Zone): string {
  return clock[zone].format(new Date(at));
}

export function dateTime(at: string | Date, zone: Zone): string {
  return calendar[zone].format(new Date(at));
}

/** "Nov 15" for the name of a day in UTC, 2026-11-15; a name that is no day stays as it is. */
export function dayLabel(name: string): string {
  const at = Date.parse(`${name}T00:00:00Z`);
  return Number.isNaN(at) ? name : monthDay.format(at);
}

/** The same with the year, unless it is this one: a date that is long over must not look like a coming one. */
export function dueLabel(name: string, now = new Date()): string {
  const year = name.slice(0, 4);
  return year === String(now.getFullYear()) ? dayLabel(name) : `${dayLabel(name)} ${year}`;
}

/** The first part of a text, never half of a character. */
export function beginning(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/**
 * What a text says first, without the marks of Markdown, for a row of one line. Lines that only wrap are one: models break
 * their sentences where they like.
 */
export function firstLine(text: string, longest = 240): string {
  const joined = text.slice(0, 4000).replace(/^(?![\s#|>-])(.*\S)[ \t]*\n(?=[\p{L}\p{N}(`])/gmu, '$1 ');
  const line = joined.split('\n').find((candidate) => /[\p{L}\p{N}]/u.test(candidate)) ?? '';
  const plain = withoutMarkdown(line);
  return plain.length > longest ? `${beginning(plain, longest)}…` : plain;
}
