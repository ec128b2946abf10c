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
import { age, dateTime, duration, elapsed, firstLine, tokens } from '@/text/format';
import { useZone } from '@/text/zone';
import { Badge } from '@/ui/badge';
import { cn } from '@/ui/cn';
import { Cost } from '@/ui/cost';
import { useNow } from '@/ui/now';
import { SessionBadge } from '@/ui/outcome';
import { Steps } from '@/ui/progress';
import { Running } from '@/ui/time';
import { progressOf } from './progress';

/** The columns of the list; wider screens show more. */
export const columns = cn(
  'md:grid md:items-center md:gap-x-4',
  'md:grid-cols-[8.5rem_minmax(0,1fr)_6rem_3rem_5rem]',
  'lg:grid-cols-[8.5rem_minmax(0,1fr)_6rem_3rem_5rem_4.5rem_4rem]',
  'xl:grid-cols-[8.5rem_minmax(0,1fr)_6rem_3rem_5rem_4.5rem_4rem_3rem_8rem]',
  'wide:grid-cols-[8.5rem_minmax(0,2fr)_minmax(0,3fr)_12rem_6rem_3rem_5rem_4.5rem_4rem_3rem_11rem]',
);

export const SessionRow = memo(function SessionRow({
  row,
  tabbable,
  open,
  onToggle,
}: {
  row: SessionItem;
  tabbable: boolean;
  /** Whether the alerts of a storm are shown. */
  open: boolean;
  onToggle: (id: string) => void;
}) {
  const running = row.status === 'in_progress' || row.status === 'cancelling';
  const progress = progressOf(row);
  const zone = useZone();
  return (
    <>
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: row.id }}
        tabIndex={tabbable ? 0 : -1}
        data-testid="session-row"
        data-session-id={row.id}
        data-status={row.status}
        data-outcome={row.outcome || undefined}
        className={cn(
          'relative block px-4 py-2.5 hover:bg-sunken focus-visible:bg-accent-soft focus-visible:outline-offset-[-2px] max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-3 max-md:gap-y-1 md:min-h-13',
          columns,
        )}
      >
        <span>
          <SessionBadge session={row} />
        </span>
        <span className="min-w-0 max-md:order-1 max-md:w-full wide:contents">
          <span className="block min-w-0">
            <span className="flex min-w-0 items-start gap-x-1.5">
              <SeverityBadge severity={row.severity} />
              <span
                className="line-clamp-2 min-w-0 pt-0.5 font-semibold break-words"
                title={titleOf(row)}
                data-testid="session-title"
              >
                {titleOf(row)}
              </span>
            </span>
            <span className="flex min-w-0 items-center gap-x-2.5 gap-y-0.5 py-0.5 max-md:flex-wrap">
              {row.waiting_approvals > 0 && (
                <Badge tone="warn" icon={Hourglass} data-testid="needs-approval">
                  Needs approval
                </Badge>
              )}
              <HandlingMarks handling={row.handling} />
              <AlertMarks alert={row.alert} />
              <FactLine alert={row} className="min-w-0 truncate text-xs text-ink-soft" />
            </span>
          </span>
          <span
            className="block truncate text-ink-soft first-letter:uppercase max-md:line-clamp-2 max-md:whitespace-normal"
            data-testid="session-line"
          >
            {row.match ? <Match match={row.match} /> : lineOf(row)}
          </span>
        </span>
        <span className="hidden truncate text-ink-soft wide:block">
          <ScreenReaderOnly>Chain </ScreenReaderOnly>
          {row.chain_id}
        </span>
        <Steps
          className="max-md:order-2 max-md:w-20"
          total={progress.total}
          done={progress.done}
          tone={progress.tone}
          label={progress.label}
        />
        <span className="text-right text-ink-soft tabular-nums max-md:ml-auto" title={dateTime(row.created_at, zone)}>
          <Age from={row.created_at} />
        </span>
        <span className="text-right tabular-nums max-md:order-3">
          <ScreenReaderOnly>Duration </ScreenReaderOnly>
          {row.started_at === null ? (
            <Nothing />
          ) : running ? (
            <Running since={row.started_at} />
          ) : (
            duration(elapsed(row.started_at, row.completed_at, new Date(row.completed_at ?? row.started_at)))
          )}
        </span>
        <span className="text-right tabular-nums max-md:order-4 max-md:ml-auto md:max-lg:hidden">
          <ScreenReaderOnly>Cost </ScreenReaderOnly>
          <Cost usage={row.usage} />
        </span>
        <span className="text-right text-ink-soft tabular-nums max-lg:hidden">
          <ScreenReaderOnly>Tokens </ScreenReaderOnly>
          {tokens(row.usage.total_tokens)}
        </span>
        <span className="text-right text-ink-soft tabular-nums max-xl:hidden">
          <ScreenReaderOnly>Tool calls </ScreenReaderOnly>
          {row.tool_calls}
        </span>
        <span className="truncate text-ink-soft max-xl:hidden">
          <ScreenReaderOnly>Author </ScreenReaderOnly>
          {row.author ? row.author : <Nothing />}
        </span>
      </Link>
      {row.alert?.storm && <StormFold sessionId={row.id} alert={row.alert} open={open} onToggle={onToggle} />}
    </>
  );
});

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

/** The column's name, which sighted users see in the header. */
function ScreenReaderOnly({ children }: { children: string }) {
  return <span className="sr-only">{children}</span>;
}

function Nothing() {
  return (
    <>
      <span aria-hidden className="text-ink-faint">
        –
      </span>
      <span className="sr-only">none yet</span>
    </>
  );
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
