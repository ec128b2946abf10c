/** The follow-up chat: questions about a finished session, and their answers as they stream. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { ArrowDown, MessageSquare } from 'lucide-react';
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import { api, body } from '@/api/client';
import * as queries from '@/api/queries';
import type { SessionDetail } from '@/api/types';
import type { SessionStore, SessionView } from '@/live/view';
import { Button } from '@/ui/button';
import type { Cancel } from './actions';
import { ExchangeView, InProgress, QuestionBubble, RefusalView } from './answer';
import { Composer } from './composer';
import { exchangesOf, isAnswering, refusalsOf } from './exchange';
import { permitToAsk } from './permit';
import { Follow } from './timeline/follow';
import { useReader } from './timeline/reader';

interface Asked {
  stageId: string;
  messageId: string;
  question: string;
}

interface ChatProps {
  store: SessionStore;
  view: SessionView;
  cancel: Cancel;
  /** Whether the field takes the focus immediately, because the user has just opened the chat. */
  focused?: boolean;
}

export function Chat({ store, view, cancel, focused = false }: ChatProps) {
  const { session, calls } = view;
  const id = session.id;
  const scopes = useQuery(queries.me()).data?.scopes;
  const exchanges = useMemo(() => exchangesOf(view, store.event), [view, store]);
  const refusals = useMemo(() => refusalsOf(view, store.event), [view, store]);
  // The last question sent. The journal reports its stage, or its rejection, later.
  const [asked, setAsked] = useState<Asked>();
  const waiting =
    asked !== undefined &&
    !exchanges.some((exchange) => exchange.stageId === asked.stageId) &&
    !refusals.some((refusal) => refusal.messageId === asked.messageId);
  const answering = waiting || isAnswering(view);

  const ask = useMutation({
    mutationFn: (question: string) =>
      body(api.POST('/api/v1/sessions/{id}/chat/messages', { params: { path: { id } }, body: { content: question } })),
    onSuccess: (accepted, question) =>
      setAsked({ stageId: accepted.stage_id, messageId: accepted.message_id, question }),
  });
  const { reset } = cancel;
  useEffect(() => {
    if (!answering) reset();
  }, [answering, reset]);

  const { mutate: askAgain, mutateAsync, reset: forgetAsk } = ask;
  const { mutate: cancelAnswer } = cancel;
  const stop = useCallback(() => {
    forgetAsk();
    // A question whose answer has not started is withdrawn and gets no stage.
    cancelAnswer(undefined, { onSuccess: () => setAsked(undefined) });
  }, [cancelAnswer, forgetAsk]);
  const { status } = session;
  const permit = useMemo(() => permitToAsk({ status, answering, scopes }), [status, answering, scopes]);

  const items = [...exchanges, ...refusals].sort((a, b) => a.sequence - b.sequence);

  return (
    <section className="flex h-full min-h-0 flex-col bg-surface" aria-label="Questions and answers" data-testid="chat">
      <EndFollower>
        {items.length === 0 && !waiting ? (
          <Invitation over={permit.state === 'allowed'} />
        ) : (
          <ol className="space-y-6" aria-label="Exchanges">
            {items.map((item) =>
              'messageId' in item ? (
                <RefusalView
                  key={item.messageId}
                  refusal={item}
                  question={item.messageId === asked?.messageId ? asked.question : undefined}
                  askAgain={permit.state === 'allowed' && asked ? () => askAgain(asked.question) : undefined}
                />
              ) : (
                <ExchangeView
                  key={item.stageId}
                  store={store}
                  exchange={item}
                  cancelling={cancel.isSuccess}
                  calls={calls}
                />
              ),
            )}
            {waiting && (
              <li className="space-y-3" data-testid="chat-waiting">
                <QuestionBubble author="" text={asked.question} />
                <InProgress>Sent. Waiting for the answer…</InProgress>
              </li>
            )}
          </ol>
        )}
      </EndFollower>
      <Composer
        key={id}
        sessionId={id}
        permit={permit}
        send={mutateAsync}
        sending={ask.isPending}
        error={ask.error ?? cancel.error}
        stop={answering ? stop : undefined}
        stopping={cancel.isPending || cancel.isSuccess}
        focused={focused}
        suggestions={
          items.length === 0 && !waiting && permit.state === 'allowed' ? suggestionsFor(session) : noSuggestions
        }
      />
    </section>
  );
}

const noSuggestions: readonly string[] = [];

const judged = [
  'What should I check before I take the first step?',
  'What else could explain this alert?',
  'What evidence would change the verdict?',
] as const;

const unjudged = [
  'What is the most likely cause, and why?',
  'What should I do first?',
  'What was not checked?',
] as const;

/** Common questions for this outcome. */
function suggestionsFor(session: SessionDetail): readonly string[] {
  return session.outcome === '' ? unjudged : judged;
}

function Invitation({ over }: { over: boolean }) {
  return (
    <div className="flex flex-col items-center gap-2 py-10 text-center text-ink-soft">
      <MessageSquare className="size-6 text-ink-faint" aria-hidden />
      <p className="max-w-64">
        {over
          ? 'Ask a follow-up question. The agent can use the same tools to answer it.'
          : 'Follow-up questions and answers appear here. You can ask once the investigation is over.'}
      </p>
    </div>
  );
}

/** Scrolls to the end as the content grows, until the reader scrolls up. */
function EndFollower({ children }: { children: ReactNode }) {
  const scroller = useRef<HTMLDivElement>(null);
  const inner = useRef<HTMLDivElement>(null);
  const [follow] = useState(() => new Follow(true, 0));
  const { following } = useSyncExternalStore(follow.subscribe, follow.state);
  const reader = useReader(follow, 0);

  const pin = useCallback(() => {
    const element = scroller.current;
    if (!element || !follow.following) return;
    element.scrollTop = element.scrollHeight;
    follow.step({ type: 'pinned', top: element.scrollTop });
  }, [follow]);
  useEffect(() => {
    if (!inner.current || !scroller.current) return;
    const observer = new ResizeObserver(pin);
    observer.observe(inner.current);
    observer.observe(scroller.current);
    return () => observer.disconnect();
  }, [pin]);

  return (
    <div className="relative min-h-0 flex-1">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div
        ref={scroller}
        role="group"
        aria-label="Conversation"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="h-full overflow-x-hidden overflow-y-auto p-4 [overflow-anchor:none] focus-visible:-outline-offset-2"
        {...reader}
      >
        <div ref={inner}>{children}</div>
      </div>
      {!following && (
        <div className="pointer-events-none absolute inset-x-0 bottom-2 flex justify-center">
          <Button
            variant="primary"
            size="sm"
            className="pointer-events-auto rounded-full shadow-lg"
            data-testid="chat-jump"
            onClick={() => {
              follow.step({ type: 'jumped' });
              pin();
            }}
          >
            <ArrowDown aria-hidden /> Jump to latest
          </Button>
        </div>
      )}
    </div>
  );
}
