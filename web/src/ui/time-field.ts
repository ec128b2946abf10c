import type { Zone } from '@/text/zone';

/** Returns a time as the value of a datetime-local input, in the chosen zone. */
export function toField(at: string | Date | undefined, zone: Zone): string {
  if (at === undefined) return '';
  const time = new Date(at);
  if (zone === 'utc') return time.toISOString().slice(0, 16);
  const two = (n: number) => String(n).padStart(2, '0');
  const day = `${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`;
  return `${day}T${two(time.getHours())}:${two(time.getMinutes())}`;
}

/** Returns the time in the input; undefined while it is incomplete. */
export function fromField(value: string, zone: Zone): string | undefined {
  const at = new Date(zone === 'utc' && value !== '' ? `${value}Z` : value);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}
