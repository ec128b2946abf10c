/** The time zone in which times are shown and entered: the browser's, or UTC. The choice is stored in this browser. */
import { Stored, useStored } from '@/ui/stored';

export const zones = ['local', 'utc'] as const;
export type Zone = (typeof zones)[number];

export const zone = new Stored<Zone>('tarsy.zone', zones);

/**
 * Returns the chosen zone. Every component that shows a time calls this, so that it re-renders, with its state, when
 * the zone changes.
 */
export function useZone(): Zone {
  return useStored(zone);
}

/** Returns the `timeZone` option of Intl; undefined is the browser's zone. */
export function timeZone(chosen: Zone): 'UTC' | undefined {
  return chosen === 'utc' ? 'UTC' : undefined;
}

/** Returns the zone's abbreviation after a time, such as "CET". */
export function zoneAbbreviation(chosen: Zone, at: Date): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZone: timeZone(chosen), timeZoneName: 'short' });
  return parts.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}

/** Returns the full name, such as "Europe/Berlin". */
export function zoneName(chosen: Zone): string {
  return timeZone(chosen) ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
