/** One session: alert, outcome, timeline and follow-up questions. */
import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowUp, MessageSquare, PanelRightClose } from 'lucide-react';
import { useCallback, useRef, useState } from 'react';
import { titleOf } from '@/alert/facts';
import { useAlertState } from '@/alert/live';
import type { Problem } from '@/api/problem';
import { isOver } from '@/api/status';
import type { AlertState } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { useTitle } from '@/app/title';
import { useSession } from '@/live/session-hooks';
import type { SessionStore, SessionView } from '@/live/view';
import { Button } from '@/ui/button';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { useMedia } from '@/ui/media';
import { useInView } from '@/ui/sight';
import { Stored, useStored } from '@/ui/stored';
import { type Cancel, useCancel } from './actions';
import { AlertCard } from './alert';
import { SessionDecisions } from './approval';
import { Chat } from './chat';
import { focusComposer, hasDraft } from './composer';
import { EvidencePanel } from './evidence';
import { hasExchanges, isAnswering } from './exchange';
import { FreshnessBanner } from './freshness';
import { SessionHeader } from './header';
import { useApprovalNotification, useNotification } from './notify';
import { Now } from './now';
import { Outcome } from './outcome';
import { isWaiting, statusMark } from './present';
import { SeenBefore } from './seen';
import { ChatSheet } from './sheet';
import { Timeline, type TimelineProps } from './timeline/timeline';

const route = getRouteApi('/shell/sessions/$sessionId');

/**
 * Whether the chat is open beside the page once it has questions, if the page is wide enough. Without questions it is
 * closed until someone opens it.
 */
const chatPanel = new Stored<'open' | 'closed'>('tarsy.chat', ['open', 'closed']);

export function SessionPage() {
  const { sessionId } = route.useParams();
  const { store, state } = useSession(sessionId);
  switch (state.phase) {
    case 'loading':
      return <LoadingSession />;
    case 'failed':
      return <FailedSession problem={state.problem} retry={store.reload} />;
    case 'ready':
      return (
        <div className="flex h-full min-h-0 flex-col">
          <FreshnessBanner freshness={state.freshness} />
          <ReadySession key={sessionId} store={store} view={state.view} />
        </div>
      );
  }
}

function LoadingSession() {
  useTitle('Session');
  return (
    <div className="mx-auto max-w-4xl p-4">
      <h1 className="sr-only">Session</h1>
      <Loading what="the session" rows={8} />
    </div>
  );
}

function FailedSession({ problem, retry }: { problem: Problem; retry: () => void }) {
  useTitle('Session');
  const back = (
    <Button asChild className="mt-4">
      <Link to="/">Back to sessions</Link>
    </Button>
  );
  if (problem.code === 'session_not_found') {
    return (
      <EmptyState title={<h1>Session not found</h1>}>
        <p className="break-words">{problem.message}</p>
        <p className="mt-1">The link may be wrong, or the session was deleted after its retention period.</p>
        {back}
      </EmptyState>
    );
  }
  return (
    <div className="mx-auto max-w-2xl p-4">
      <h1 className="mb-3 text-base font-semibold">Could not load the session</h1>
      <ProblemPanel error={problem} retry={retry} />
      {back}
    </div>
  );
}

function ReadySession({ store, view }: { store: SessionStore; view: SessionView }) {
  const { session } = view;
  const search = route.useSearch();
  const roomForChat = useMedia('(min-width: 64rem)');
  const roomForOutcome = useMedia('(min-width: 112.5rem)');
  const panel = useStored(chatPanel);
  const cancel = useCancel(session.id);
  const alert = useAlertState(session);
  useNotification(session);
  useApprovalNotification(store, view);
  useTitle(`${statusMark(isWaiting(view) ? 'waiting' : session.status)} ${titleOf(session)}`);

  const [opened, setOpened] = useState<'no' | 'for a draft' | 'by hand'>(() =>
    hasDraft(session.id) ? 'for a draft' : 'no',
  );
  const beside = roomForChat && (opened !== 'no' || (hasExchanges(view) && panel === 'open'));
  const openChat = () => {
    setOpened('by hand');
    chatPanel.set('open');
  };
  const closeChat = () => {
    setOpened('no');
    chatPanel.set('closed');
  };
  const openSheet = useChatSheet();
  usePageCommands([
    {
      id: 'ask',
      label: 'Ask a question',
      keywords: ['chat', 'follow-up'],
      icon: <MessageSquare aria-hidden />,
      run: beside ? focusComposer : roomForChat ? openChat : openSheet,
    },
  ]);
  return (
    <SessionDecisions store={store} view={view}>
      <SessionHeader
        store={store}
        view={view}
        alert={alert}
        answering={isAnswering(view)}
        cancel={cancel}
        chatButton={beside ? null : <ChatButton open={roomForChat ? openChat : openSheet} />}
      />
      <Now store={store} view={view} />
      <div className="flex min-h-0 flex-1">
        {roomForOutcome && (
          <section
            className="w-144 shrink-0 overflow-y-auto border-r border-line px-4 min-[137.5rem]:w-176"
            aria-label="Outcome and alert"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            tabIndex={0}
          >
            <div className="space-y-3 py-3">
              <Outcome store={store} view={view} whole />
              {!isOver(session.status) && <SeenBefore sessionId={session.id} />}
              <AlertCard session={session} alert={alert} />
            </div>
          </section>
        )}
        {roomForOutcome ? (
          <div className="min-w-0 flex-1">
            <Timeline store={store} view={view} focus={search.event} />
          </div>
        ) : (
          <TimelineUnderCards store={store} view={view} alert={alert} focus={search.event} />
        )}
        {beside && (
          <aside
            className="flex w-88 shrink-0 flex-col border-l border-line bg-surface xl:w-100 2xl:w-110"
            aria-label="Chat"
          >
            <header className="flex h-11 shrink-0 items-center justify-between border-b border-line pr-1 pl-4">
              <h2 className="text-sm font-semibold">Chat</h2>
              <Button variant="ghost" size="icon" aria-label="Close chat" onClick={closeChat}>
                <PanelRightClose aria-hidden />
              </Button>
            </header>
            <div className="min-h-0 flex-1">
              <Chat store={store} view={view} cancel={cancel} focused={opened === 'by hand'} />
            </div>
          </aside>
        )}
      </div>
      <EvidencePanel store={store} view={view} call={search.call} />
      {!roomForChat && <NarrowChat store={store} view={view} cancel={cancel} open={search.chat === true} />}
    </SessionDecisions>
  );
}

/** Opens the chat beside the page or, on a narrow screen, over it. */
function ChatButton({ open }: { open: () => void }) {
  return (
    <Button size="sm" className="max-md:h-11 max-md:px-3" onClick={open} data-palette="none" data-testid="chat-open">
      <MessageSquare aria-hidden /> Chat
    </Button>
  );
}

function useChatSheet(): () => void {
  const navigate = route.useNavigate();
  return () => void navigate({ search: (before) => ({ ...before, chat: true }) });
}

function NarrowChat({
  store,
  view,
  cancel,
  open,
}: {
  store: SessionStore;
  view: SessionView;
  cancel: Cancel;
  open: boolean;
}) {
  const navigate = route.useNavigate();
  const close = useCallback(
    () => void navigate({ search: (before) => ({ ...before, chat: undefined }), replace: true }),
    [navigate],
  );
  return (
    <ChatSheet open={open} onClose={close}>
      <Chat store={store} view={view} cancel={cancel} />
    </ChatSheet>
  );
}

/**
 * The timeline below the outcome, with a button back to the outcome when it is out of view: the reader may be far below
 * when the session ends.
 */
function TimelineUnderCards({
  store,
  view,
  alert,
  focus,
}: Pick<TimelineProps, 'store' | 'view' | 'focus'> & { alert: AlertState | null }) {
  const outcome = useRef<HTMLDivElement>(null);
  const over = isOver(view.session.status);
  const seen = useInView(outcome, { before: true, there: over });
  const showOutcome = useCallback(() => outcome.current?.scrollIntoView({ block: 'start' }), []);
  const header = (
    <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-3 py-3 @5xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
      {over && (
        <div>
          {/* Marks the top of the outcome: seeing only the end of a long outcome does not count. */}
          <div ref={outcome} className="h-px" />
          <Outcome store={store} view={view} whole={false} />
        </div>
      )}
      <AlertCard session={view.session} alert={alert} />
      {!over && <SeenBefore sessionId={view.session.id} />}
    </div>
  );
  return (
    <div className="relative min-w-0 flex-1">
      <Timeline
        store={store}
        view={view}
        focus={focus}
        header={header}
        lead={over ? 'outcome' : 'alert'}
        showVerdict={showOutcome}
      />
      {over && !seen && (
        <div className="pointer-events-none absolute inset-x-0 top-2 flex justify-center">
          <Button
            size="sm"
            className="pointer-events-auto rounded-full shadow-lg"
            onClick={showOutcome}
            data-testid="show-outcome"
          >
            <ArrowUp aria-hidden /> {view.session.outcome === '' ? 'Show outcome' : 'Show verdict'}
          </Button>
        </div>
      )}
    </div>
  );
}
