/** The header of the session page: title, status, cost and actions. */
import { Link } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import type { ReactNode } from 'react';
import { FactLine, titleOf } from '@/alert/facts';
import { AlertLinks } from '@/alert/links';
import { SeverityBadge } from '@/alert/severity';
import { AlertMarks } from '@/alert/state';
import type { AlertState, SessionDetail, Usage } from '@/api/types';
import { HandlingPanel } from '@/handling/panel';
import type { SessionStore, SessionView } from '@/live/view';
import { duration, elapsed, exactCost, shortId, spent, tokens } from '@/text/format';
import { OutcomeBadge } from '@/ui/outcome';
import { Hint } from '@/ui/overlay';
import { Steps } from '@/ui/progress';
import { StatusBadge } from '@/ui/status';
import { Ago, Running } from '@/ui/time';
import { type Cancel, SessionActions } from './actions';
import { isWaiting, progressOf } from './present';
import { SeenBeforeLink } from './seen';
import { WaitingApprovals } from './waiting';

export function SessionHeader({
  store,
  view,
  alert,
  answering,
  cancel,
  chatButton,
}: {
  store: SessionStore;
  view: SessionView;
  /** The live state of the alert. */
  alert: AlertState | null;
  answering: boolean;
  cancel: Cancel;
  chatButton: ReactNode;
}) {
  const { session } = view;
  const progress = progressOf(view);
  return (
    <header className="border-b border-line bg-surface px-3 py-2 sm:px-4" data-testid="session-header">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <div className="flex min-w-0 flex-1 items-center gap-2 max-lg:basis-full">
          <nav aria-label="Breadcrumb" className="shrink-0">
            <Link
              to="/"
              className="flex h-8 items-center gap-0.5 rounded-md pr-2 max-md:h-11 max-sm:min-w-8 text-ink-soft hover:bg-sunken hover:text-ink"
              aria-label="Back to sessions"
            >
              <ChevronLeft className="size-4" aria-hidden />
              <span className="max-sm:hidden">Sessions</span>
            </Link>
          </nav>
          <h1
            className="line-clamp-2 min-w-0 max-md:line-clamp-3 text-base font-semibold break-words"
            title={titleOf(session)}
          >
            {titleOf(session)}
          </h1>
          {session.status === 'completed' && session.outcome !== '' ? (
            <span className="shrink-0" data-status={session.status}>
              <span className="sr-only">Completed: </span>
              <OutcomeBadge outcome={session.outcome} />
            </span>
          ) : (
            <StatusBadge status={isWaiting(view) ? 'waiting' : session.status} className="shrink-0" />
          )}
        </div>
        <div className="flex items-center gap-1 max-lg:w-full max-lg:justify-between max-md:items-start">
          <SessionActions key={session.id} session={session} answering={answering} cancel={cancel} />
          {chatButton}
        </div>
      </div>
      <div
        className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-ink-soft"
        data-testid="session-alert"
      >
        <SeverityBadge severity={session.severity} />
        <AlertMarks alert={alert} />
        <FactLine alert={session} className="min-w-0 break-words" />
        <AlertLinks links={session.links} />
      </div>
      <dl className="mt-1.5 flex flex-wrap items-center gap-x-4 gap-y-1 text-[13px] text-ink-soft">
        <div className="flex items-center gap-2">
          <dt className="sr-only">Progress</dt>
          <dd className="flex items-center gap-2">
            <span aria-hidden className="w-16 max-sm:hidden">
              <Steps total={progress.total} done={progress.done} tone={progress.tone} label="" />
            </span>
            <span className="first-letter:uppercase">{progress.label}</span>
          </dd>
        </div>
        <Fact name="Started" className="max-sm:hidden">
          <Ago at={session.started_at ?? session.created_at} />
        </Fact>
        <Fact name="Duration">
          <Duration session={session} />
        </Fact>
        <Fact name="Cost">
          <UsageHint usage={session.usage} />
        </Fact>
        <Fact name="Tool calls" className="max-sm:hidden">
          {session.tool_calls}
        </Fact>
        {session.author && (
          <Fact name="Author" className="max-sm:hidden">
            <span className="inline-block max-w-48 truncate align-bottom" title={session.author}>
              {session.author}
            </span>
          </Fact>
        )}
        {session.concluded_early && (
          <div className="text-warn">
            <dt className="sr-only">Concluded early</dt>
            <dd>{concludedEarly(session.concluded_early)}</dd>
          </div>
        )}
        {alert?.earlier_session_id && (
          <Fact name="Earlier investigation">
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: alert.earlier_session_id }}
              className="font-mono text-accent underline underline-offset-2"
              aria-label={`Earlier investigation ${shortId(alert.earlier_session_id)}`}
              data-testid="earlier-session"
            >
              {shortId(alert.earlier_session_id)}
            </Link>
          </Fact>
        )}
        <SeenBeforeLink sessionId={session.id} />
        {session.rerun_of && (
          <Fact name="Re-run of">
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: session.rerun_of }}
              className="font-mono text-accent underline underline-offset-2"
            >
              {shortId(session.rerun_of)}
            </Link>{' '}
            <Link
              to="/sessions/$sessionId/trace"
              params={{ sessionId: session.id }}
              search={{ compare: session.rerun_of }}
              className="text-accent underline underline-offset-2"
              data-testid="compare-original"
            >
              Compare with original
            </Link>
          </Fact>
        )}
        {session.reruns.length > 0 && (
          <Fact name="Re-runs">
            <span className="inline-flex flex-wrap gap-x-3" data-testid="reruns">
              {session.reruns.map((rerun) => (
                <span key={rerun}>
                  <Link
                    to="/sessions/$sessionId"
                    params={{ sessionId: rerun }}
                    className="font-mono text-accent underline underline-offset-2"
                    aria-label={`Re-run ${shortId(rerun)}`}
                  >
                    {shortId(rerun)}
                  </Link>{' '}
                  <Link
                    to="/sessions/$sessionId/trace"
                    params={{ sessionId: rerun }}
                    search={{ compare: session.id }}
                    className="text-accent underline underline-offset-2"
                    aria-label={`Compare with re-run ${shortId(rerun)}`}
                  >
                    Compare
                  </Link>
                </span>
              ))}
            </span>
          </Fact>
        )}
      </dl>
      <HandlingPanel session={session} />
      <WaitingApprovals store={store} view={view} />
    </header>
  );
}

function concludedEarly(reason: string): string {
  if (reason === 'deadline') return 'Concluded early: the time limit was near';
  if (reason === 'budget') return 'Concluded early: the budget was used up';
  if (reason === 'resolved') return 'Concluded early: the alert was resolved';
  if (reason === 'repeated_calls') return 'Concluded early: an agent repeated the same tool calls';
  return `Concluded early: ${reason}`;
}

function Fact({ name, children, className }: { name: string; children: ReactNode; className?: string }) {
  return (
    <div className={className}>
      <dt className="text-ink-faint max-sm:sr-only sm:inline">{name} </dt>
      <dd className="inline tabular-nums text-ink">{children}</dd>
    </div>
  );
}

function Duration({ session }: { session: SessionDetail }) {
  if (!session.started_at) return <>not started</>;
  if (!session.completed_at) return <Running since={session.started_at} />;
  return <>{duration(elapsed(session.started_at, session.completed_at, new Date()))}</>;
}

/** Cost and tokens; the tooltip has the details, and so do screen readers. */
function UsageHint({ usage }: { usage: Usage }) {
  const parts = [
    exactCost(usage.cost_usd),
    `${usage.input_tokens.toLocaleString()} input`,
    `${usage.output_tokens.toLocaleString()} output`,
    `${usage.cached_tokens.toLocaleString()} cached`,
    `${usage.thinking_tokens.toLocaleString()} thinking`,
    ...(usage.unpriced_tokens > 0 ? [`${usage.unpriced_tokens.toLocaleString()} without a known price`] : []),
  ];
  return (
    <Hint text={parts.join(' · ')}>
      <button type="button" className="min-h-6 cursor-help underline decoration-dotted underline-offset-4">
        {spent(usage)} · {tokens(usage.total_tokens)} tokens
        <span className="sr-only">: {parts.join(', ')}</span>
      </button>
    </Hint>
  );
}
