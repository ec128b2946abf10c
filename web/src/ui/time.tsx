/** Times that go on by themselves: what is around them is not drawn anew by the clock. */
import { ago, dateTime, duration, elapsed } from '@/text/format';
import { useNow } from './now';

/** How long ago something was; when exactly, for whoever points at it. */
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
