/** Numbers and times as people read them; one place, so that the same value looks the same on every page. */

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

/** How long ago: one unit, for lists. */
export function age(from: string | Date, now: Date): string {
  const span = Math.max(0, now.getTime() - new Date(from).getTime());
  if (span < 10 * second) return 'now';
  if (span < minute) return `${Math.floor(span / second)} s`;
  if (span < hour) return `${Math.floor(span / minute)} m`;
  if (span < day) return `${Math.floor(span / hour)} h`;
  return `${Math.floor(span / day)} d`;
}

/** How long something ran, or has been running. */
export function elapsed(started: string | null | undefined, ended: string | null | undefined, now: Date): number {
  if (!started) return 0;
  return (ended ? new Date(ended) : now).getTime() - new Date(started).getTime();
}

/** Dollars: cents where there are some, more digits where a call costs less than one. */
export function cost(dollars: number): string {
  if (dollars === 0) return '$0.00';
  if (dollars < 0.0001) return '<$0.0001';
  if (dollars < 0.1) return `$${dollars.toFixed(4)}`;
  return `$${dollars.toFixed(2)}`;
}

export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  if (count < 1_000_000) return `${Math.round(count / 1000)}k`;
  return `${(count / 1_000_000).toFixed(1)}M`;
}

// Made once: making one for every row of a long list is what would take the time.
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' });
const calendar = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

export function clockTime(at: string | Date): string {
  return clock.format(new Date(at));
}

export function dateTime(at: string | Date): string {
  return calendar.format(new Date(at));
}

/**
 * What a text says first, without the marks of Markdown, for a row of one line. Lines that only wrap are one: models break
 * their sentences where they like.
 */
export function firstLine(text: string, longest = 240): string {
  const joined = text.slice(0, 4000).replace(/^(?![\s#|>-])(.*\S)[ \t]*\n(?=[\p{L}\p{N}(`])/gmu, '$1 ');
  const line = joined.split('\n').find((candidate) => /[\p{L}\p{N}]/u.test(candidate)) ?? '';
  const plain = line
    .replace(/^[\s>#*+-]+/, '')
    .replace(/[*`]{1,3}|(?<![\p{L}\p{N}])_{1,2}|_{1,2}(?![\p{L}\p{N}])/gu, '')
    .trim();
  return plain.length > longest ? `${plain.slice(0, longest)}…` : plain;
}
