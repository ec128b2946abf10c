/** A session in the list: a line on a wide screen, a card on a narrow one. The whole row is one link. */
import { Link } from '@tanstack/react-router';
import { Hourglass } from 'lucide-react';
import { memo } from 'react';
import { FactLine, titleOf } from '@/alert/facts';
import { SeverityBadge } from '@/alert/severity';
import { AlertMarks } from '@/alert/state';
import { StormFold } from '@/alert/storm';
import type { SessionItem } from '@/api/types';
import { HandlingMarks } from '@/handling/marks';
import { withoutMarks } from '@/text/citation';
import { age, dateTime, firstLine } from '@/text/format';
import { useZone } from '@/text/zone';
import { Badge } from '@/ui/badge';
import { cn } from '@/ui/cn';
import { useNow } from '@/ui/now';
import { SessionBadge } from '@/ui/outcome';
import { type ColumnName, columns } from './columns';
import { progressOf } from './progress';

/** The tracks of a row: selection, status, alert and cause (beside each other if there is space), chosen columns, age. */
export const rowGrid = cn(
  'md:grid md:items-center md:gap-x-4',
  'md:grid-cols-[8.5rem_minmax(0,1fr)_var(--chosen,)_3rem]',
  'xl:grid-cols-[8.5rem_minmax(0,2fr)_minmax(0,3fr)_var(--chosen,)_3rem]',
);

export const SessionRow = memo(function SessionRow({
  row,
  columns: chosen,
  tabbable,
  selected,
  onSelect,
  open,
  onToggle,
}: {
  row: SessionItem;
  columns: readonly ColumnName[];
  tabbable: boolean;
  selected: boolean;
  /** Undefined if rows cannot be selected. */
  onSelect: ((id: string, selected: boolean) => void) | undefined;
  /** Whether the alerts of a storm are shown. */
  open: boolean;
  onToggle: (id: string) => void;
}) {
  const zone = useZone();
  return (
    <>
      <div className="relative">
        {onSelect && (
          <label className="absolute top-0 left-0 z-10 flex size-11 cursor-pointer items-center justify-center md:h-full md:w-9">
            <input
              type="checkbox"
              className="size-4 accent-accent"
              aria-label={`Select ${titleOf(row)}`}
              tabIndex={tabbable ? 0 : -1}
              checked={selected}
              onChange={(event) => onSelect(row.id, event.target.checked)}
              data-palette="none"
              data-testid="select-row"
            />
          </label>
        )}
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: row.id }}
          tabIndex={tabbable ? 0 : -1}
          data-testid="session-row"
          data-session-id={row.id}
          data-status={row.status}
          data-outcome={row.outcome || undefined}
          // Smaller badges keep a row at the height of two lines.
          className={cn(
            'relative block px-4 py-2.5 hover:bg-sunken focus-visible:bg-accent-soft focus-visible:outline-offset-[-2px] max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-3 max-md:gap-y-1 md:min-h-13 md:py-1.5 md:leading-5 md:[&_.h-6]:h-5',
            onSelect && 'pl-11 md:pl-9',
            selected && 'bg-accent-soft',
            rowGrid,
          )}
        >
          <span>
            <SessionBadge session={row} />
          </span>
          <span className="min-w-0 max-md:order-1 max-md:w-full xl:contents">
            <span className="block min-w-0">
              <span className="flex min-w-0 items-center gap-x-1.5 max-md:items-start">
                <Dot alert={row.alert} />
                <SeverityBadge severity={row.severity} />
                <span
                  className="line-clamp-2 min-w-0 font-semibold break-words md:line-clamp-1"
                  title={titleOf(row)}
                  data-testid="session-title"
                >
                  {titleOf(row)}
                </span>
              </span>
              <span className="flex min-w-0 items-center gap-x-2.5 gap-y-0.5 max-md:flex-wrap max-md:py-0.5">
                {row.waiting_approvals > 0 && (
                  <Badge tone="warn" icon={Hourglass} data-testid="needs-approval">
                    Needs approval
                  </Badge>
                )}
                <HandlingMarks handling={row.handling} />
                <AlertMarks alert={row.alert} dot />
                <FactLine alert={row} className="min-w-0 truncate text-xs text-ink-soft" />
              </span>
            </span>
            <span
              className="line-clamp-2 text-ink-soft break-words first-letter:uppercase"
              title={row.match ? undefined : lineOf(row)}
              data-testid="session-line"
            >
              {row.match ? <Match match={row.match} /> : lineOf(row)}
            </span>
          </span>
          {chosen.map((name) => {
            const { label, right, cell } = columns[name];
            return (
              <span
                key={name}
                className={cn(
                  'truncate text-ink-soft tabular-nums max-md:order-2 max-md:max-w-40',
                  right && 'md:text-right',
                )}
              >
                <span className="md:sr-only">{label} </span>
                {cell(row)}
              </span>
            );
          })}
          <span className="text-right text-ink-soft tabular-nums max-md:ml-auto" title={dateTime(row.created_at, zone)}>
            <Age from={row.created_at} />
          </span>
        </Link>
      </div>
      {row.alert?.storm && <StormFold sessionId={row.id} alert={row.alert} open={open} onToggle={onToggle} />}
    </>
  );
});

/** Filled while the alert fires, a ring when it has resolved; nothing if it has no identity. */
function Dot({ alert }: { alert: SessionItem['alert'] }) {
  if (alert === null) return null;
  return (
    <span
      className={cn(
        'size-2.5 shrink-0 rounded-full border-2 max-md:mt-1.5',
        alert.firing ? 'border-bad bg-bad' : 'border-good',
      )}
      role="img"
      aria-label={alert.firing ? 'Firing' : 'Alert resolved'}
      title={alert.firing ? 'Firing' : 'Alert resolved'}
      data-testid={alert.firing ? 'alert-firing' : 'alert-resolved'}
    />
  );
}

const fields: Record<string, string> = {
  alert_data: 'Alert',
  final_analysis: 'Analysis',
  executive_summary: 'Summary',
  cause: 'Cause',
  error_message: 'Error',
  alert_type: 'Alert type',
};

/** Where the session matches the search. A match in the title has no field name. */
function Match({ match }: { match: NonNullable<SessionItem['match']> }) {
  const field = fields[match.field];
  return (
    <>
      {field && <span className="text-ink-faint">{field}: </span>}
      <Snippet parts={match.snippet} />
    </>
  );
}

/** The matching part of the session, as plain text with highlighted matches. */
export function Snippet({ parts }: { parts: NonNullable<SessionItem['match']>['snippet'] }) {
  let at = 0;
  return parts.map((part) => {
    const key = at;
    at += part.text.length;
    return part.match ? (
      <mark key={key} className="rounded-sm bg-accent-soft font-medium text-ink" data-testid="session-match">
        {part.text}
      </mark>
    ) : (
      <span key={key}>{part.text}</span>
    );
  });
}

/** Returns the result in one line: the error if it failed, otherwise the cause or the summary. */
export function lineOf(row: SessionItem): string {
  const failed = row.status === 'failed' || row.status === 'timed_out';
  const text = (failed && row.error_message) || row.cause || row.executive_summary || row.error_message;
  return firstLine(withoutMarks(text)) || fallbackLine(row);
}

function fallbackLine(row: SessionItem): string {
  if (row.status === 'pending') return 'Queued';
  if (row.status === 'in_progress' || row.status === 'cancelling') return progressOf(row).label;
  return row.error_code || 'No summary';
}

/** Re-renders on its own clock, without the surrounding row. */
function Age({ from }: { from: string }) {
  const now = useNow();
  const text = age(from, now);
  return (
    <>
      {text}
      {text !== 'now' && <span className="sr-only"> ago</span>}
    </>
  );
}
