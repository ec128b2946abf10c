/** A shared session, for readers without a login: conclusion and timeline, without any actions. */
import { useQuery } from '@tanstack/react-query';
import { Eye, Link2Off } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { FactLine, titleOf } from '@/alert/facts';
import { SeverityBadge } from '@/alert/severity';
import { type Shared, shared } from '@/api/operations';
import { asProblem } from '@/api/problem';
import { isOver } from '@/api/status';
import type { TimelineEvent } from '@/api/types';
import { Mark } from '@/app/mark';
import { useTitle } from '@/app/title';
import { lookOf } from '@/pages/session/timeline/look';
import { VerdictCard } from '@/pages/session/verdict';
import { firstLine } from '@/text/format';
import { Markdown } from '@/text/markdown';
import { visible } from '@/text/visible';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { Code } from '@/ui/code';
import { Failure } from '@/ui/failure';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { StatusBadge } from '@/ui/status';
import { ClockTime, DateTime } from '@/ui/time';

/** Returns the secret in the fragment of the address. It is sent only in a header. */
function secretOf(hash: string): string {
  try {
    return decodeURIComponent(hash.replace(/^#/, ''));
  } catch {
    return '';
  }
}

/** Returns the secret in the address; another link may be opened in the same tab. */
function useSecret(): string {
  const [secret, setSecret] = useState(() => secretOf(globalThis.location.hash));
  useEffect(() => {
    const read = () => setSecret(secretOf(globalThis.location.hash));
    globalThis.addEventListener('hashchange', read);
    return () => globalThis.removeEventListener('hashchange', read);
  }, []);
  return secret;
}

export function SharedPage() {
  const secret = useSecret();
  const found = useQuery({ ...shared(secret), enabled: secret !== '' });
  useTitle(found.data ? titleOf(found.data.session) : 'Shared session');
  const gone = secret === '' || (found.error && asProblem(found.error).code === 'share_not_found');
  return (
    <div className="flex min-h-dvh flex-col">
      <header className="flex min-h-12 flex-wrap items-center gap-x-4 gap-y-1 border-b border-line bg-surface px-4 py-2">
        <span className="flex items-center gap-2 font-semibold tracking-tight">
          <Mark />
          TARSy
        </span>
        {found.data && !gone && (
          <p className="flex min-w-0 items-center gap-2 text-ink-soft" role="note" data-testid="shared-banner">
            <Eye className="size-4 shrink-0" aria-hidden />
            <span className="min-w-0 break-words">
              Shared by {found.data.shared_by}, read-only, until <DateTime at={found.data.expires_at} />
            </span>
          </p>
        )}
      </header>
      <main id="main" className="mx-auto w-full max-w-5xl flex-1 p-3 sm:p-4">
        {gone ? (
          <EmptyState title={<h1>This link does not work</h1>} icon={<Link2Off aria-hidden />}>
            <p>It does not exist, has expired or was revoked. Ask the sender for a new one.</p>
          </EmptyState>
        ) : found.data ? (
          <SharedSession shared={found.data} />
        ) : found.error ? (
          <>
            <h1 className="mb-3 text-base font-semibold">Could not load the session</h1>
            <ProblemPanel error={found.error} retry={() => void found.refetch()} />
          </>
        ) : (
          <>
            <h1 className="sr-only">Shared session</h1>
            <Loading what="the session" rows={8} />
          </>
        )}
      </main>
    </div>
  );
}

function SharedSession({ shared: { session, events } }: { shared: Shared }) {
  const verdict = session.verdict;
  return (
    <div className="space-y-3" data-testid="shared-session">
      <div className="space-y-1.5">
        <h1 className="text-lg font-semibold break-words">{visible(titleOf(session))}</h1>
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-[13px] text-ink-soft">
          <StatusBadge status={session.status} />
          <SeverityBadge severity={session.severity} />
          <FactLine alert={session} />
          <span>
            Received <DateTime at={session.created_at} />
          </span>
        </div>
      </div>
      {verdict && (
        <div className="@container">
          <VerdictCard
            session={{ id: session.id, outcome: session.outcome, cause: verdict.cause.text, verdict }}
            cited={{ sessionId: session.id }}
            readOnly
          />
        </div>
      )}
      <Conclusion session={session} />
      <Card aria-labelledby="shared-timeline">
        <CardHeader>
          <CardTitle id="shared-timeline">Timeline</CardTitle>
        </CardHeader>
        {events.length === 0 ? (
          <p className="p-4 text-ink-soft">Nothing has happened yet.</p>
        ) : (
          <ol className="divide-y divide-line" data-testid="shared-events">
            {events.map((event) => (
              <EventRow key={event.id} event={event} />
            ))}
          </ol>
        )}
      </Card>
    </div>
  );
}

function Conclusion({ session }: { session: Shared['session'] }) {
  const failed = session.status === 'failed' || session.status === 'timed_out';
  return (
    <Card data-testid="shared-analysis">
      <CardHeader>
        <CardTitle>Analysis</CardTitle>
      </CardHeader>
      <CardBody className="space-y-4">
        {failed && (
          <Failure title="The investigation did not finish" message={session.error_message} code={session.error_code} />
        )}
        {session.executive_summary && (
          <Text text={session.executive_summary} className="text-[15px] font-medium" label="Summary" />
        )}
        {session.final_analysis ? (
          <Text text={session.final_analysis} label="Final analysis" />
        ) : (
          !failed && (
            <p className="text-ink-soft">
              {isOver(session.status)
                ? 'There is no analysis.'
                : 'The investigation has not finished. This page updates.'}
            </p>
          )
        )}
      </CardBody>
    </Card>
  );
}

function Text({ text, label, className }: { text: string; label: string; className?: string }) {
  return (
    <section aria-label={label}>
      <Markdown text={text} className={`max-w-[75ch] leading-relaxed ${className ?? ''}`} />
    </section>
  );
}

/** An event, expandable by the reader. */
function EventRow({ event }: { event: TimelineEvent }) {
  const look = lookOf(event.event_type);
  return (
    <li>
      <details className="group" data-testid="shared-event" data-type={event.event_type}>
        <summary className="flex min-h-11 cursor-pointer items-center gap-2.5 px-4 py-2 hover:bg-sunken">
          <look.icon className="size-4 shrink-0 text-ink-soft" aria-hidden />
          <span className="min-w-0 flex-1 break-words">
            <span className="font-medium">{headOf(event, look.label)}</span>
            <span className="line-clamp-1 text-[13px] text-ink-soft group-open:hidden">
              {visible(firstLine(event.content))}
            </span>
          </span>
          <ClockTime at={event.created_at} className="shrink-0 text-xs text-ink-soft" />
        </summary>
        <div className="space-y-2 px-4 pt-1 pb-4">{bodyOf(event, look.body)}</div>
      </details>
    </li>
  );
}

function headOf(event: TimelineEvent, label: string): string {
  const { tool_name: tool, server_name: server } = (event.metadata ?? {}) as Record<string, unknown>;
  return typeof tool === 'string' && tool !== '' ? visible(`${label}: ${server ? `${server}.` : ''}${tool}`) : label;
}

function bodyOf(event: TimelineEvent, kind: string): ReactNode {
  const given = (event.metadata as Record<string, unknown> | null)?.arguments;
  return (
    <>
      {given !== undefined && given !== null && (
        <Code text={visible(JSON.stringify(given, null, 2))} className="whitespace-pre-wrap [overflow-wrap:anywhere]" />
      )}
      {event.content === '' ? null : kind === 'markdown' ? (
        <Markdown text={event.content} className="max-w-[75ch] leading-relaxed" />
      ) : (
        <Code
          text={visible(event.content)}
          className="max-h-96 overflow-y-auto whitespace-pre-wrap [overflow-wrap:anywhere]"
        />
      )}
      {event.truncated && <p className="text-xs text-ink-faint">Long texts are cut in shared sessions.</p>}
    </>
  );
}
