/**
 * The tool call that a claim cites, beside the claim: a panel on wide screens, a sheet on narrow ones. The page's
 * address names the call, so that Back closes it; the claim is in the history state, to keep the address short.
 */
import { getRouteApi, Link, useRouter, useRouterState } from '@tanstack/react-router';
import { ListTree, X } from 'lucide-react';
import { Dialog } from 'radix-ui';
import { useCallback, useEffect, useMemo, useRef } from 'react';
import { useWhole } from '@/live/session-hooks';
import type { EventView, SessionStore, SessionView } from '@/live/view';
import { ResultView } from '@/result/result-view';
import { withoutMarks } from '@/text/citation';
import { duration } from '@/text/format';
import { PayloadView } from '@/text/payload-view';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { useMedia } from '@/ui/media';
import { ClockTime } from '@/ui/time';
import { durationOf, toolCallFacts } from './timeline/preview';

const route = getRouteApi('/shell/sessions/$sessionId');

export function EvidencePanel({ store, view, call }: { store: SessionStore; view: SessionView; call?: string }) {
  const beside = useMedia('(min-width: 64rem)');
  const navigate = route.useNavigate();
  const router = useRouter();
  const claim = useRouterState({ select: (state) => state.location.state.claim });
  const pushed = useRouterState({ select: (state) => state.location.state.fromCitation === true });
  const close = useCallback(() => {
    // If this page opened the panel, go back, so that the reader's next Back leads to where they came from.
    if (pushed) router.history.back();
    else void navigate({ search: ({ call: _, ...rest }) => rest, replace: true, resetScroll: false });
  }, [pushed, router, navigate]);
  const focus = useReturn(call);

  return (
    <Dialog.Root open={call !== undefined} onOpenChange={(open) => !open && close()} modal={!beside}>
      <Dialog.Portal>
        {!beside && <Dialog.Overlay className="fixed inset-0 z-40 bg-black/50" />}
        <Dialog.Content
          aria-describedby={undefined}
          onInteractOutside={(event) => beside && event.preventDefault()}
          onEscapeKeyDown={(event) => {
            // The focused field handles Escape itself, such as the search within a result.
            if (event.target instanceof Element && event.target.matches('[data-own-escape]')) event.preventDefault();
          }}
          onOpenAutoFocus={focus.opened}
          onCloseAutoFocus={focus.closed}
          tabIndex={-1}
          data-testid="evidence-panel"
          className={cn(
            'fixed z-50 flex flex-col overflow-hidden border-line bg-surface shadow-xl outline-none',
            beside
              ? 'top-0 right-0 bottom-0 w-[min(44rem,44vw)] border-l'
              : 'inset-x-0 top-10 bottom-0 rounded-t-lg border',
          )}
        >
          {call !== undefined && (
            <Evidence store={store} view={view} call={call} claim={claim ?? claimsOf(view, call)} />
          )}
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

/** Returns the focus to the last citation that opened the panel or changed its content. */
function useReturn(call: string | undefined) {
  const before = useRef<HTMLElement>(undefined);
  useEffect(() => {
    const active = document.activeElement;
    if (call !== undefined && active instanceof HTMLElement && active.matches('[data-citation]'))
      before.current = active;
  }, [call]);
  return {
    opened: () => {
      const active = document.activeElement;
      if (active instanceof HTMLElement) before.current = active;
    },
    closed: (event: Event) => {
      event.preventDefault();
      const target = before.current?.isConnected ? before.current : document.querySelector('main');
      if (target instanceof HTMLElement) target.focus({ preventScroll: true });
    },
  };
}

/** For an address opened without a claim: every sentence of the verdict and the analysis that cites the call. */
function claimsOf(view: SessionView, call: string): string {
  const { verdict, final_analysis: analysis } = view.session;
  const texts = [
    verdict?.cause.text,
    verdict?.confidence_reason.text,
    verdict?.impact.text,
    ...(verdict?.next_steps.map((step) => step.why.text) ?? []),
    ...analysis.split(/(?<=[.!?])\s+|\n/),
  ];
  return texts.filter((text) => text?.includes(call)).join(' ');
}

function Evidence({
  store,
  view,
  call,
  claim,
}: {
  store: SessionStore;
  view: SessionView;
  call: string;
  claim: string;
}) {
  const id = view.calls.get(call);
  const preview = id === undefined ? undefined : store.event(id);
  const { event, error, retry } = useWhole(store, preview);
  const facts = preview && toolCallFacts(preview);
  const took = preview && durationOf(preview);
  const agent = useMemo(() => agentOf(view, preview), [view, preview]);
  return (
    <>
      <div className="flex min-h-11 shrink-0 items-center gap-2 border-b border-line py-1 pr-1 pl-4">
        <Dialog.Title className="min-w-0 flex-1 text-sm font-semibold [overflow-wrap:anywhere]">
          Tool call {call}
          {facts && (
            <span className="font-mono text-[13px] font-normal">
              {' '}
              {facts.server}.{facts.tool}
            </span>
          )}
        </Dialog.Title>
        {id !== undefined && (
          <Button asChild variant="ghost" size="sm" className="max-sm:h-11">
            <Link
              to="/sessions/$sessionId"
              params={{ sessionId: view.session.id }}
              search={{ event: id }}
              preload={false}
              data-testid="evidence-row"
            >
              <ListTree aria-hidden /> Show in timeline
            </Link>
          </Button>
        )}
        <Dialog.Close asChild>
          <Button variant="ghost" size="icon" className="max-sm:size-11" aria-label="Close evidence">
            <X aria-hidden />
          </Button>
        </Dialog.Close>
      </div>
      {claim !== '' && (
        <div className="max-h-40 shrink-0 overflow-y-auto border-b border-line px-4 py-3">
          <blockquote className="border-l-2 border-accent pl-3 [overflow-wrap:anywhere]" data-testid="evidence-claim">
            {withoutMarks(claim)}
          </blockquote>
        </div>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div
        role="group"
        aria-label="Evidence"
        data-scroller
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
        tabIndex={0}
        className="min-h-0 flex-1 space-y-3 overflow-y-auto p-4 focus-visible:-outline-offset-2"
      >
        {!preview && <p className="text-ink-soft">This session has no tool call {call}.</p>}
        {preview && (
          <p className="flex flex-wrap gap-x-3 text-xs text-ink-soft">
            {agent && <span>{agent}</span>}
            <ClockTime at={preview.created_at} />
            {took !== undefined && <span>{duration(took)}</span>}
            {facts?.failed && <span className="font-medium text-bad">The call failed.</span>}
            {facts?.unknown && <span className="font-medium text-warn">Outcome unknown.</span>}
          </p>
        )}
        {error ? (
          <ProblemPanel error={error} retry={retry} />
        ) : event ? (
          <>
            <PayloadView label="Arguments" value={event.metadata?.arguments ?? ''} empty="No arguments." />
            <ResultView key={`${call} ${claim}`} text={event.content} claim={withoutMarks(claim)} flow />
          </>
        ) : (
          preview && <Loading what="the tool call" rows={4} className="px-0" />
        )}
      </div>
    </>
  );
}

function agentOf(view: SessionView, event: EventView | undefined): string {
  for (const { stage, executions } of view.stages) {
    const own = executions.find(({ execution }) => execution.id === event?.execution_id);
    if (own) return `${own.execution.agent_name}, stage ${stage.stage_index}: ${stage.stage_name}`;
  }
  return '';
}
