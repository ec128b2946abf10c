/** Sections of the alert card: when and how often the alert was received, and its labels. */
import { Link } from '@tanstack/react-router';
import type { AlertState, SessionDetail } from '@/api/types';
import { joinLabels } from '@/pages/sessions/labels';
import { counted, dateTime } from '@/text/format';
import { useZone, type Zone } from '@/text/zone';
import { DateTime } from '@/ui/time';
import { Section } from './fold';

/** Whether the alert fires, and the recorded times at which it was received. */
export function StateSection({ alert, startsAt }: { alert: AlertState; startsAt: string | null }) {
  const times = countedTimes(alert.times.toReversed(), useZone());
  return (
    <Section
      title={`${alert.firing ? 'Firing' : 'Resolved'}, received ${counted(alert.occurrences, 'time')}`}
      open={false}
    >
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1 text-[13px] [&_dt]:text-ink-faint">
        {startsAt && (
          <>
            <dt>Problem began</dt>
            <dd>
              <DateTime at={startsAt} />
            </dd>
          </>
        )}
        {alert.resolved_at && (
          <>
            <dt>Resolved</dt>
            <dd>
              <DateTime at={alert.resolved_at} />
            </dd>
          </>
        )}
        <dt>Received</dt>
        <dd>
          <ul data-testid="alert-times">
            {times.map(({ at, count }) => (
              <li key={at} className="tabular-nums">
                {at}
                {count > 1 && <span className="text-ink-soft"> ({counted(count, 'time')})</span>}
              </li>
            ))}
            {alert.occurrences > alert.times.length && <li className="text-ink-soft">and earlier</li>}
          </ul>
        </dd>
      </dl>
    </Section>
  );
}

/** Groups equal formatted times: the members of a storm arrive together. */
export function countedTimes(times: readonly string[], zone: Zone): { at: string; count: number }[] {
  const counts = new Map<string, number>();
  for (const at of times.map((time) => dateTime(time, zone))) counts.set(at, (counts.get(at) ?? 0) + 1);
  return [...counts].map(([at, count]) => ({ at, count }));
}

/** The sender's labels. Each links to the sessions with the same label. */
export function LabelsSection({ labels }: { labels: SessionDetail['labels'] }) {
  const sorted = Object.entries(labels).toSorted(([a], [b]) => a.localeCompare(b));
  if (sorted.length === 0) return null;
  return (
    <Section title={`Labels (${sorted.length})`} open={false}>
      <ul className="flex flex-wrap gap-1.5" data-testid="alert-labels">
        {sorted.map(([name, value]) => (
          <li key={name} className="max-w-full min-w-0">
            <Link
              to="/"
              search={{ label: joinLabels([`${name}=${value}`]) }}
              title={`Show sessions with ${name}=${value}`}
              className="block rounded-md border border-line px-2 py-0.5 text-[13px] break-words hover:bg-sunken"
            >
              <span className="text-ink-soft">{name}=</span>
              {value}
            </Link>
          </li>
        ))}
      </ul>
    </Section>
  );
}
