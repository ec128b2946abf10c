/** The content of an opened row: one component per kind of body in look.ts. */
import { type ReactNode, useContext, useDeferredValue, useState } from 'react';
import { approvalOf } from '@/live/approval';
import { useWhole } from '@/live/session-hooks';
import type { EventView } from '@/live/view';
import { ResultView } from '@/result/result-view';
import { tokens } from '@/text/format';
import { Markdown } from '@/text/markdown';
import { PayloadView } from '@/text/payload-view';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { CopyButton } from '@/ui/copy';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { EventApproval } from '../approval';
import { CallsContext, useTimeline } from './context';
import { lookOf } from './look';

/** The opened event. If the list had only its beginning, the rest is requested now. */
export function EventBody({ event, summaries }: { event: EventView; summaries: readonly EventView[] }) {
  const { store } = useTimeline();
  const { event: shown, error, retry } = useWhole(store, event);
  const address = () => `${location.origin}/sessions/${store.sessionId}?event=${event.id}`;
  return (
    <div className="space-y-2 px-3 pt-1 pb-3">
      {summaries.map((summary) => (
        <SummaryOf key={summary.id} summary={summary} />
      ))}
      {error ? (
        <ProblemPanel error={error} retry={retry} />
      ) : shown ? (
        <Contents event={shown} summarised={summaries.length > 0} />
      ) : (
        <Loading what="the whole event" rows={3} className="px-0" />
      )}
      <div className="-ml-2 flex flex-wrap items-center gap-1">
        {shown && shown.content !== '' && lookOf(event.event_type).body === 'markdown' && (
          <CopyButton text={shown.content} label="Copy text" showLabel />
        )}
        <CopyButton text={address} label="Copy link" showLabel />
      </div>
    </div>
  );
}

/** A summary is what the model saw, so it precedes the result it was made from. */
function SummaryOf({ summary }: { summary: EventView }) {
  const { store } = useTimeline();
  const { event: whole, error, retry } = useWhole(store, summary);
  const original = summary.metadata?.original_tokens;
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div role="group" aria-label="Summary" className="rounded-md border border-line bg-surface px-3 py-2">
      <p className="text-xs font-medium text-ink-soft">
        Summary given to the model
        {typeof original === 'number' && ` (full result: about ${tokens(original)} tokens)`}
      </p>
      {error ? (
        <ProblemPanel error={error} retry={retry} className="mt-2" />
      ) : (
        <div className="mt-1">
          <Prose text={(whole ?? summary).content} streaming={summary.status === 'streaming'} />
        </div>
      )}
    </div>
  );
}

function Contents({ event, summarised }: { event: EventView; summarised: boolean }) {
  switch (lookOf(event.event_type).body) {
    case 'markdown':
      return <MarkdownBody event={event} />;
    case 'call':
      return <CallBody event={event} summarised={summarised} />;
    case 'code':
      return (
        <>
          <PayloadView label="Code" value={event.metadata?.code ?? ''} />
          <PayloadView label="Output" value={event.content} empty="No output." />
        </>
      );
    case 'sources':
      return <SourcesBody event={event} />;
    case 'text':
      return <TextBody event={event} />;
    case 'unknown':
      return (
        <>
          {event.content !== '' && <PayloadView label="Content" value={event.content} />}
          {event.metadata && <PayloadView label="Details" value={event.metadata} />}
        </>
      );
  }
}

function MarkdownBody({ event: latest }: { event: EventView }) {
  // Up to eight agents may stream at once: deferring lets React render their texts in pieces and keeps the page
  // responsive.
  const event = useDeferredValue(latest);
  const streaming = event.status === 'streaming';
  if (event.content === '') return <p className="text-ink-faint">{streaming ? 'No text yet.' : 'No text.'}</p>;
  return (
    <>
      <Notice event={event} />
      <Prose text={event.content} streaming={streaming} quiet={lookOf(event.event_type).weight === 'quiet'} />
    </>
  );
}

function Prose({ text, streaming, quiet = false }: { text: string; streaming: boolean; quiet?: boolean }) {
  const { store } = useTimeline();
  const calls = useContext(CallsContext);
  return (
    <div className={cn('max-w-[75ch] [overflow-wrap:anywhere]', quiet && 'text-[13px] text-ink-soft')}>
      <Markdown text={text} streaming={streaming} calls={calls} sessionId={store.sessionId} />
    </div>
  );
}

/** Warnings that a reader must know before trusting an analysis. */
function Notice({ event }: { event: EventView }) {
  const metadata = event.metadata ?? {};
  const reasons: Record<string, string> = {
    iterations: 'it reached its iteration limit',
    deadline: 'the session was near its deadline',
    budget: 'the budget was used up',
    resolved: 'the alert was resolved',
    repeated_calls: 'it repeated the same tool calls',
  };
  const notices: string[] = [];
  if (metadata.forced_conclusion === true) {
    const reason = typeof metadata.reason === 'string' ? reasons[metadata.reason] : undefined;
    notices.push(`The agent had to conclude early${reason ? `: ${reason}` : ''}.`);
  }
  if (metadata.cut_off === true) notices.push('The model reached its token limit, so the text is cut off.');
  if (notices.length === 0) return null;
  return <p className="rounded-md bg-warn-soft px-3 py-1.5 text-warn">{notices.join(' ')}</p>;
}

function CallBody({ event, summarised }: { event: EventView; summarised: boolean }) {
  const { folding } = useTimeline();
  const rawKey = `${event.id}:raw`;
  const [raw, setRaw] = useState(() => folding.isOpen(rawKey));
  const running = event.status === 'streaming';
  const show = (open: boolean) => {
    folding.choose(rawKey, open);
    setRaw(open);
  };
  let result: ReactNode = null;
  const approval = approvalOf(event);
  if (running && approval?.status === 'waiting') result = null;
  else if (running) result = <p className="text-ink-faint">Waiting for the result.</p>;
  else if (summarised && !raw) {
    result = (
      <Button size="sm" aria-expanded={false} onClick={() => show(true)}>
        Show raw result
      </Button>
    );
  } else {
    result = <ResultView label={resultLabel(event)} text={event.content} />;
  }
  return (
    <>
      {event.metadata?.outcome === 'unknown' && (
        <p className="rounded-md bg-warn-soft px-3 py-1.5 text-warn">
          The call was interrupted. Whether it took effect is unknown.
        </p>
      )}
      {approval ? (
        <EventApproval event={event} />
      ) : (
        <PayloadView label="Arguments" value={event.metadata?.arguments ?? ''} empty="No arguments." />
      )}
      {result}
      {summarised && raw && !running && (
        <Button size="sm" aria-expanded onClick={() => show(false)}>
          Hide raw result
        </Button>
      )}
    </>
  );
}

function resultLabel(event: EventView): string {
  return event.metadata?.is_error === true || event.status === 'failed' ? 'Error' : 'Result';
}

function TextBody({ event }: { event: EventView }) {
  const { code, from, to } = event.metadata ?? {};
  return (
    <div className="max-w-[75ch]">
      <p className="[overflow-wrap:anywhere] whitespace-pre-wrap">{event.content || 'No details.'}</p>
      {typeof from === 'string' && typeof to === 'string' && (
        <p className="mt-1 text-ink-soft">
          {from} → {to}
        </p>
      )}
      {typeof code === 'string' && <p className="mt-1 font-mono text-xs text-ink-soft">{code}</p>}
    </div>
  );
}

/** Sources are shown as plain text: their addresses are untrusted. */
function SourcesBody({ event }: { event: EventView }) {
  const queriesMade = event.metadata?.queries;
  return (
    <>
      {Array.isArray(queriesMade) && queriesMade.length > 0 && <PayloadView label="Queries" value={queriesMade} />}
      <PayloadView label="Sources" value={event.content} empty="No sources." />
    </>
  );
}
