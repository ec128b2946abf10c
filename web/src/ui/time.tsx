/** Times that update themselves without rendering what is around them. */
import { ago, dateTime, duration, elapsed } from '@/text/format';
import { useNow } from './now';

/** How long ago something was; the tooltip has the exact time. */
export function Ago({ at, className }: { at: string; className?: string }) {
  return (
    <time dateTime={at} title={dateTime(at)} className={className}>
      {ago(at, useNow(10_000))}
    </time>
  );
}

/** How long something has been running. */
export function Running({ since, className }: { since: string; className?: string }) {
  return <span className={className}>{duration(elapsed(since, null, useNow()))}</span>;
}
