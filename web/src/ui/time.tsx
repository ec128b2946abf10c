/** Times that update themselves, even when the zone changes, without re-rendering the surrounding component. */
import { ago, clockTime, dateTime, duration, elapsed } from '@/text/format';
import { useZone } from '@/text/zone';
import { useNow } from './now';

interface TimeProps {
  at: string;
  className?: string;
}

/** A time of day; the tooltip has the date. */
export function ClockTime({ at, className }: TimeProps) {
  const zone = useZone();
  return (
    <time dateTime={at} title={dateTime(at, zone)} className={className}>
      {clockTime(at, zone)}
    </time>
  );
}

export function DateTime({ at, className }: TimeProps) {
  return (
    <time dateTime={at} className={className}>
      {dateTime(at, useZone())}
    </time>
  );
}

/** How long ago something was; the tooltip has the exact time. */
export function Ago({ at, className }: TimeProps) {
  return (
    <time dateTime={at} title={dateTime(at, useZone())} className={className}>
      {ago(at, useNow(10_000))}
    </time>
  );
}

/** How long something has been running. */
export function Running({ since, className }: { since: string; className?: string }) {
  return <span className={className}>{duration(elapsed(since, null, useNow()))}</span>;
}
