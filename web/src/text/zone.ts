/** The time zone in which times are shown and entered: that of the browser, or UTC. The choice is kept in this browser. */
import { Stored, useStored } from '@/ui/stored';

export const zones = ['local', 'utc'] as const;
export type Zone = (typeof zones)[number];

export const zone = new Stored<Zone>('tarsy.zone', zones);

/** Whatever shows a time calls this: it is rendered again, and keeps its state, when the reader chooses another zone. */
export function useZone(): Zone {
  return useStored(zone);
}

/** What Intl takes for it; undefined is the browser's own. */
export function timeZone(chosen: Zone): 'UTC' | undefined {
  return chosen === 'utc' ? 'UTC' : undefined;
}

/** The name that stands behind a time, such as "CET". */
export function zoneAbbreviation(chosen: Zone, at: Date): string {
  const parts = new Intl.DateTimeFormat(undefined, { timeZone: timeZone(chosen), timeZoneName: 'short' });
  return parts.formatToParts(at).find(({ type }) => type === 'timeZoneName')?.value ?? 'UTC';
}

/** The whole name: "Europe/Berlin". */
export function zoneName(chosen: Zone): string {
  return timeZone(chosen) ?? new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
