/** A question and its answer. It subscribes to its own events, so that streaming text re-renders nothing else. */
import { Link } from '@tanstack/react-router';
import { LoaderCircle, RotateCcw } from 'lucide-react';
import { memo, type ReactNode, useMemo, useSyncExternalStore } from 'react';
import { useWhole } from '@/live/session-hooks';
import type { EventView, SessionStore } from '@/live/view';
import { counted } from '@/text/format';
import { Markdown } from '@/text/markdown';
import { Button } from '@/ui/button';
import { Failure } from '@/ui/failure';
import { StatusBadge } from '@/ui/status';
import { ClockTime } from '@/ui/time';
import { type Exchange, evidenceOf, type Refusal } from './exchange';
import { UnknownCalls } from './outcome';
import { throttled } from './timeline/live';

/** Returns an event, updated at most ten times a second while it streams, and in full when it is done. */
function useText(
  store: SessionStore,
  eventId: string,
): { event: EventView | undefined; text: string; partial: boolean } {
  const subscribe = useMemo(
    () =>
      throttled(
        (listener) => store.subscribeEvent(eventId, listener),
        () => store.event(eventId)?.status !== 'streaming',
      ),
    [store, eventId],
  );
  const event = useSyncExternalStore(subscribe, () => store.event(eventId));
  const whole = useWhole(store, event).event;
  return { event, text: (whole ?? event)?.content ?? '', partial: whole === undefined };
}

interface AnswerProps {
  store: SessionStore;
  exchange: Exchange;
  /** Whether the server was asked to stop the answer. */
  cancelling: boolean;
  calls: ReadonlyMap<string, string>;
}

export const ExchangeView = memo(function ExchangeView({ store, exchange, cancelling, calls }: AnswerProps) {
  const status = cancelling && exchange.status === 'active' ? 'cancelling' : exchange.status;
  return (
    <li className="space-y-3" data-testid="chat-exchange" data-status={status}>
      {exchange.question && <Question store={store} eventId={exchange.question} />}
      <div className="min-w-0 space-y-2" data-testid="chat-answer">
        <Effort store={store} exchange={exchange} />
        {exchange.answer && <AnswerText store={store} eventId={exchange.answer} calls={calls} />}
        <Ending status={status} exchange={exchange} />
      </div>
    </li>
  );
});

function Question({ store, eventId }: { store: SessionStore; eventId: string }) {
  const { event, text } = useText(store, eventId);
  if (!event) return null;
  const author = event.metadata?.author;
  return <QuestionBubble author={typeof author === 'string' ? author : ''} at={event.created_at} text={text} />;
}

export function QuestionBubble({ author, at, text }: { author: string; at?: string; text: string }) {
  return (
    <div className="ml-6 rounded-lg bg-accent-soft px-3 py-2">
      <p className="mb-0.5 flex gap-2 text-xs text-ink-soft">
        <span className="truncate font-medium">{author || 'You'}</span>
        {at && <ClockTime at={at} />}
      </p>
      <p className="break-words whitespace-pre-wrap [overflow-wrap:anywhere]">{text}</p>
    </div>
  );
}

function AnswerText({
  store,
  eventId,
  calls,
}: {
  store: SessionStore;
  eventId: string;
  calls: ReadonlyMap<string, string>;
}) {
  const { event, text, partial } = useText(store, eventId);
  if (!event) return null;
  return (
    <>
      <UnknownCalls calls={evidenceOf(event).unknown} />
      <Markdown
        text={text}
        streaming={event.status === 'streaming'}
        calls={calls}
        sessionId={store.sessionId}
        className="leading-relaxed"
      />
      {partial && <p className="text-xs text-ink-soft">Loading the rest…</p>}
    </>
  );
}

/** The thoughts and tool calls behind the answer, linked to the timeline. */
function Effort({ store, exchange }: { store: SessionStore; exchange: Exchange }) {
  const parts = [
    { ...exchange.thoughts, one: 'thought' },
    { ...exchange.toolCalls, one: 'tool call' },
  ].filter((part) => part.count > 0);
  if (parts.length === 0) return null;
  return (
    <p className="flex flex-wrap gap-x-3 text-xs text-ink-soft">
      {parts.map((part) => (
        <Link
          key={part.one}
          to="/sessions/$sessionId"
          params={{ sessionId: store.sessionId }}
          search={{ event: part.first }}
          preload={false}
          className="inline-flex min-h-6 items-center underline decoration-dotted underline-offset-4 hover:text-ink"
        >
          {counted(part.count, part.one)}
        </Link>
      ))}
    </p>
  );
}

/** How the answer ended, unless it succeeded, or that it is still in progress. */
export function Ending({
  status,
  exchange,
}: {
  status: string;
  exchange: Pick<Exchange, 'answer' | 'answered' | 'problem'>;
}) {
  switch (status) {
    case 'completed':
      return exchange.answered ? null : <p className="text-ink-soft">No answer was written.</p>;
    case 'active':
      return <InProgress>{exchange.answer ? 'Answering…' : 'Thinking…'}</InProgress>;
    case 'cancelling':
      return <StatusLine status={status} words="Stopping the answer…" />;
    case 'cancelled':
      return (
        <StatusLine
          status={status}
          words={
            exchange.answer
              ? 'The answer was stopped; the text above is incomplete.'
              : 'Stopped before an answer was written.'
          }
        />
      );
    default:
      return <StatusLine status={status} words={exchange.problem} />;
  }
}

/** A question without an answer: the server's reason and, if this page sent the question, its text. */
export function RefusalView({
  refusal,
  question,
  askAgain,
}: {
  refusal: Refusal;
  question: string | undefined;
  /** Undefined if it cannot be asked now. */
  askAgain: (() => void) | undefined;
}) {
  return (
    <li className="space-y-3" data-testid="chat-refused">
      {question !== undefined && <QuestionBubble author="" at={refusal.at} text={question} />}
      <Failure title="Question not answered" message={refusal.reason} />
      {question !== undefined && askAgain && (
        <Button size="sm" onClick={askAgain}>
          <RotateCcw aria-hidden /> Ask again
        </Button>
      )}
    </li>
  );
}

function StatusLine({ status, words }: { status: string; words: string }) {
  return (
    <p className="flex flex-wrap items-center gap-2">
      <StatusBadge status={status} />
      {words && <span className="min-w-0 break-words text-ink-soft">{words}</span>}
    </p>
  );
}

/** What is being waited for. Only the icon moves: fading text would be hard to read. */
export function InProgress({ children }: { children: ReactNode }) {
  return (
    <p className="flex items-center gap-2 text-ink-soft">
      <LoaderCircle className="size-4 shrink-0 animate-spin text-running" aria-hidden />
      {children}
    </p>
  );
}
