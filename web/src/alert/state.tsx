/** What happened to an alert after it was received: repeated, resolved, flapping, part of a storm. */
import { ArrowDownUp, CircleCheckBig, CloudLightning } from 'lucide-react';
import type { AlertState } from '@/api/types';
import { ago, counted, dateTime } from '@/text/format';
import { useZone } from '@/text/zone';
import { Badge } from '@/ui/badge';
import { useNow } from '@/ui/now';

/** Describes how often an alert was received, in short form and in words; undefined if only once. */
export function repeats(
  { occurrences, last_at }: Pick<AlertState, 'occurrences' | 'last_at'>,
  now: Date,
): { short: string; words: string } | undefined {
  if (occurrences < 2) return undefined;
  const last = ago(last_at, now);
  return {
    short: `×${occurrences.toLocaleString('en')}, last ${last}`,
    words: `Received ${counted(occurrences, 'time')}, last ${last}`,
  };
}

/** Reports whether the alert was received again. In a storm, the first alert of each member is an occurrence too. */
export function isRepeated({
  occurrences,
  storm,
  members,
}: Pick<AlertState, 'occurrences' | 'storm' | 'members'>): boolean {
  return occurrences > (storm ? members : 1);
}

/** Re-renders on its own clock, without the surrounding row. */
export function Repeats({ alert }: { alert: Pick<AlertState, 'occurrences' | 'last_at'> }) {
  const repeated = repeats(alert, useNow(10_000));
  const zone = useZone();
  if (repeated === undefined) return null;
  return (
    <span
      className="text-xs whitespace-nowrap text-ink-soft tabular-nums"
      title={`Last received ${dateTime(alert.last_at, zone)}`}
      data-testid="alert-repeats"
    >
      <span aria-hidden>{repeated.short}</span>
      <span className="sr-only">{repeated.words}</span>
    </span>
  );
}

/**
 * Badges for everything unusual about an alert; none for one that fires and was received once. With a `dot`, the caller
 * shows whether the alert fires.
 */
export function AlertMarks({ alert, dot = false }: { alert: AlertState | null; dot?: boolean }) {
  const zone = useZone();
  if (alert === null) return null;
  return (
    <>
      {alert.storm && (
        <Badge tone="warn" icon={CloudLightning} data-testid="alert-storm">
          Storm of {alert.members.toLocaleString('en')}
        </Badge>
      )}
      {!alert.firing && !dot && (
        <Badge
          tone="good"
          icon={CircleCheckBig}
          title={alert.resolved_at ? `Resolved ${dateTime(alert.resolved_at, zone)}` : undefined}
          data-testid="alert-resolved"
        >
          Alert resolved
        </Badge>
      )}
      {alert.flapping && (
        <Badge tone="warn" icon={ArrowDownUp} data-testid="alert-flapping">
          Flapping
        </Badge>
      )}
      {isRepeated(alert) && <Repeats alert={alert} />}
    </>
  );
}
