import type { Zone } from '@/text/zone';

/** A time as the browser's field for date and time has it, in the zone that the reader chose. */
export function toField(at: string | Date | undefined, zone: Zone): string {
  if (at === undefined) return '';
  const time = new Date(at);
  if (zone === 'utc') return time.toISOString().slice(0, 16);
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** The time in the field; undefined while it has none. */
export function fromField(value: string, zone: Zone): string | undefined {
  const at = new Date(zone === 'utc' && value !== '' ? `${value}Z` : value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
