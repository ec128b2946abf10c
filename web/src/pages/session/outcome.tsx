/** The outcome of the investigation. */
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { isOver } from '@/api/status';
import type { SessionDetail } from '@/api/types';
import type { SessionStore, SessionView } from '@/live/view';
import { counted } from '@/text/format';
import { Markdown } from '@/text/markdown';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';
import { Failure } from '@/ui/failure';
import { type Evidence, evidenceOf, finalAnalysisOf } from './exchange';
import { isLong, Shortened } from './fold';
import { SessionNotes } from './keep';
import { SeenBefore } from './seen';
import { VerdictCard } from './verdict';

/**
 * The verdict and the analysis; renders nothing while the session runs. With `whole` the full analysis is shown, in its
 * own column.
 */
export function Outcome({ store, view, whole }: { store: SessionStore; view: SessionView; whole: boolean }) {
  if (!isOver(view.session.status)) return null;
  return (
    <div className="@container space-y-3" data-testid="outcome" data-status={view.session.status}>
      {view.session.outcome !== '' && (
        <VerdictCard session={view.session} cited={{ sessionId: view.session.id, calls: view.calls }} />
      )}
      <Result store={store} view={view} whole={whole} />
      <SeenBefore sessionId={view.session.id} />
      <SessionNotes sessionId={view.session.id} />
    </div>
  );
}

function Result({ store, view, whole }: { store: SessionStore; view: SessionView; whole: boolean }) {
  const { session, calls } = view;
  const evidence = evidenceOf(finalAnalysisOf(view, store.event));
  const analysis = session.final_analysis;
  const judged = session.outcome !== '';
  return (
    <Card data-testid="analysis">
      <CardHeader>
        <CardTitle className="flex-1">{judged ? 'Analysis' : 'Outcome'}</CardTitle>
        {analysis && <CopyButton text={analysis} label="Copy analysis" />}
      </CardHeader>
      <CardBody className="space-y-4">
        <Reason session={session} />
        {session.executive_summary && (
          <section aria-label="Executive summary" data-testid="executive-summary">
            {judged && <h3 className="mb-1 text-xs font-semibold text-ink-soft">Summary</h3>}
            <Markdown
              text={session.executive_summary}
              calls={calls}
              sessionId={session.id}
              className={cn('max-w-[75ch] leading-relaxed', judged ? 'text-ink-soft' : 'text-[15px] font-medium')}
            />
          </section>
        )}
        {session.executive_summary_error && (
          <Warning>Could not write the summary: {session.executive_summary_error}</Warning>
        )}
        {analysis ? (
          <section
            className={cn(session.executive_summary && 'border-t border-line pt-4')}
            data-testid="final-analysis"
          >
            {!judged && <h3 className="mb-2 text-xs font-semibold text-ink-soft">Final analysis</h3>}
            <EvidenceLine evidence={evidence} />
            <Shortened long={!whole && isLong(analysis)}>
              <Markdown text={analysis} calls={calls} sessionId={session.id} className="max-w-[75ch] leading-relaxed" />
            </Shortened>
          </section>
        ) : (
          session.status === 'completed' && <p className="text-ink-soft">The agents produced no analysis.</p>
        )}
        {session.verdict_error && (
          <p className="text-xs break-words text-ink-faint" data-testid="verdict-error">
            No verdict could be written: {session.verdict_error}
          </p>
        )}
      </CardBody>
    </Card>
  );
}

function EvidenceLine({ evidence }: { evidence: Evidence }) {
  if (evidence.cited === 0 && evidence.unknown.length === 0) return null;
  return (
    <div className="mb-3 space-y-2 text-[13px]">
      {evidence.cited > 0 && (
        <p className="text-ink-soft" data-testid="evidence">
          Based on {counted(evidence.cited, 'tool call')}. Each mark links to the result.
        </p>
      )}
      <UnknownCalls calls={evidence.unknown} />
    </div>
  );
}

/** Warns about unknown citations: the statements that cite them have no evidence. */
export function UnknownCalls({ calls }: { calls: readonly string[] }) {
  const most = 10;
  if (calls.length === 0) return null;
  return (
    <Warning>
      Cites {calls.length === 1 ? 'a tool call' : 'tool calls'} that this session did not make (
      {calls.slice(0, most).join(', ')}
      {calls.length > most && ` and ${calls.length - most} more`}). Verify the statements that cite{' '}
      {calls.length === 1 ? 'it' : 'them'}.
    </Warning>
  );
}

function Warning({ children }: { children: ReactNode }) {
  return (
    <p className="flex gap-2 rounded-md bg-warn-soft px-3 py-2 text-warn">
      <TriangleAlert className="mt-0.5 size-4 shrink-0" aria-hidden />
      <span className="min-w-0 break-words">{children}</span>
    </p>
  );
}

/** Why there may be no result, in the server's words. */
function Reason({ session }: { session: SessionDetail }) {
  const { status, error_message: message, error_code: code } = session;
  if (status === 'cancelled') {
    return (
      <p className="text-ink-soft first-letter:uppercase">
        {message || 'Cancelled before the investigation finished.'}
      </p>
    );
  }
  if (status !== 'failed' && status !== 'timed_out') return null;
  const title = status === 'failed' ? 'Investigation failed' : 'Investigation timed out';
  return <Failure title={title} message={message} code={code} />;
}
