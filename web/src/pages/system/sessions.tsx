import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { titleOf } from '@/alert/facts';
import * as queries from '@/api/queries';
import type { SessionItem } from '@/api/types';
import { duration, elapsed } from '@/text/format';
import { Answer } from '@/ui/answer';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { useNow } from '@/ui/now';
import { StatusBadge } from '@/ui/status';

/** The running and queued sessions. */
export function SessionsCard() {
  const sessions = useQuery({ ...queries.activeSessions(), refetchInterval: 10_000 });
  return (
    <Card aria-labelledby="system-sessions">
      <CardHeader>
        <CardTitle id="system-sessions">Active sessions</CardTitle>
        {sessions.data && (
          <span className="text-ink-soft tabular-nums">
            {sessions.data.active_total} running, {sessions.data.queued_total} queued
          </span>
        )}
      </CardHeader>
      <Answer query={sessions} what="sessions" rows={3}>
        {(data) =>
          data.active.length + data.queued.length === 0 ? (
            <p className="p-4 text-ink-soft">
              No sessions are running or queued.{' '}
              <Link to="/submit" className="text-accent underline underline-offset-4">
                Submit alert
              </Link>
            </p>
          ) : (
            <ul className="divide-y divide-line">
              {[...data.active, ...data.queued].map((session) => (
                <SessionRow key={session.id} session={session} />
              ))}
            </ul>
          )
        }
      </Answer>
    </Card>
  );
}

function SessionRow({ session }: { session: SessionItem }) {
  const now = useNow();
  const waits = session.status === 'pending';
  const since = elapsed(waits ? session.created_at : session.started_at, null, now);
  return (
    <li>
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: session.id }}
        className="flex min-h-11 flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2 hover:bg-sunken"
        data-testid="system-session"
      >
        <StatusBadge status={session.status} />
        <span className="min-w-0 flex-1 truncate font-medium">{titleOf(session)}</span>
        {!waits && session.stage_count > 0 && (
          <span className="text-xs text-ink-soft tabular-nums">
            stage {Math.min(session.current_stage_index, session.stage_count)} of {session.stage_count}
          </span>
        )}
        <span className="w-16 text-right text-xs text-ink-soft tabular-nums">{duration(since)}</span>
      </Link>
    </li>
  );
}
