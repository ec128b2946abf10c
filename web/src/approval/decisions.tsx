/**
 * Decisions on tool calls. The page keeps them, because the card of a call unmounts when it is scrolled out of view,
 * and typed or sent input must survive that. A decision is sent three seconds after it was made, so that it can be
 * undone; leaving the page before that sends nothing.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useBlocker, useRouterState } from '@tanstack/react-router';
import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from 'react';
import { type ApprovalCall, approvalCall, approvalKey, approvalsKey, type Decision, decide } from '@/api/approvals';
import { useScope } from '@/app/scope';
import { useShortcuts } from '@/app/shortcuts';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { isConflict } from '@/ui/conflict';
import { Dialog, DialogContent } from '@/ui/overlay';
import { EditDialog, RejectDialog } from './dialogs';

/** How long a decision can be undone before it is sent, in milliseconds. */
export const undoMs = 3_000;

/** The state of a decision made on this page. */
export type Sent =
  /** Not sent before this time, in milliseconds since 1970. */
  | { state: 'held'; status: Decision['status']; until: number }
  | { state: 'sending' }
  /** The server accepted it; the session has not reported it yet. */
  | { state: 'accepted' }
  | { state: 'refused'; error: Error };

type Asking = { dialog: 'reject' | 'edit'; call: ApprovalCall };

interface Decisions {
  /** By approval id. */
  sent: ReadonlyMap<string, Sent>;
  decide(id: string, decision: Decision): void;
  /** Takes back a decision that was not sent yet. */
  undo(id: string): void;
  ask(asking: Asking): void;
  /** The next page is loading: a decision would be lost with this one. */
  leaving: boolean;
}

const DecisionsContext = createContext<Decisions | undefined>(undefined);

export function useDecisions(): Decisions {
  const decisions = useContext(DecisionsContext);
  if (!decisions) throw new Error('an approval is shown on a page without decisions');
  return decisions;
}

export function DecisionsProvider({
  waiting,
  current,
  reload,
  children,
}: {
  /** The ids of the calls that wait. */
  waiting: readonly string[];
  /** The call that the keys decide about if no card has the focus. */
  current?: string;
  /** Loads the current state after the server refused a decision. */
  reload: () => void;
  children: ReactNode;
}) {
  const client = useQueryClient();
  const leaving = useRouterState({
    select: ({ location, resolvedLocation }) =>
      resolvedLocation !== undefined && resolvedLocation.pathname !== location.pathname,
  });
  const [sent, setSent] = useState<ReadonlyMap<string, Sent>>(new Map());
  const [asking, setAsking] = useState<Asking>();
  const timers = useRef(new Map<string, ReturnType<typeof setTimeout>>());
  // What was typed, in case the decision is undone or the server fails.
  const drafts = useRef(new Map<string, Decision>());
  useEffect(() => {
    const held = timers.current;
    return () => {
      for (const timer of held.values()) clearTimeout(timer);
    };
  }, []);
  const mark = (id: string, state: Sent | undefined) =>
    setSent((before) => {
      const after = new Map(before);
      if (state) after.set(id, state);
      else after.delete(id);
      return after;
    });
  const { mutate } = useMutation({
    mutationFn: ({ id, decision }: { id: string; decision: Decision }) => decide(id, decision),
    onMutate: ({ id }) => mark(id, { state: 'sending' }),
    onSuccess: (_, { id }) => {
      mark(id, { state: 'accepted' });
      drafts.current.delete(id);
      void client.invalidateQueries({ queryKey: approvalsKey });
    },
    onError: (error, { id }) => {
      mark(id, { state: 'refused', error });
      if (!isConflict(error)) return;
      // Someone else decided, or the request expired: load the current state.
      reload();
      void client.invalidateQueries({ queryKey: approvalKey(id) });
    },
  });
  const decisions: Decisions = {
    sent,
    leaving,
    decide: (id, decision) => {
      if (leaving || timers.current.has(id)) return;
      setAsking(undefined);
      drafts.current.set(id, decision);
      mark(id, { state: 'held', status: decision.status, until: Date.now() + undoMs });
      const send = () => {
        timers.current.delete(id);
        mutate({ id, decision });
      };
      timers.current.set(id, setTimeout(send, undoMs));
    },
    undo: (id) => {
      clearTimeout(timers.current.get(id));
      timers.current.delete(id);
      mark(id, undefined);
    },
    ask: (next) => {
      // An earlier error does not apply to the new input.
      mark(next.call.id, undefined);
      setAsking(next);
    },
  };
  useKeys(decisions, waiting, current);
  // The dialog closes automatically when its call no longer waits.
  const open = asking !== undefined && waiting.includes(asking.call.id);
  const draft = asking && drafts.current.get(asking.call.id);
  const shared = { open, draft, close: () => setAsking(undefined), decide: decisions.decide };
  return (
    <DecisionsContext value={decisions}>
      {children}
      {asking?.dialog === 'reject' && <RejectDialog key={asking.call.id} {...shared} call={asking.call} />}
      {asking?.dialog === 'edit' && <EditDialog key={asking.call.id} {...shared} call={asking.call} />}
      <Leaving sent={sent} undo={decisions.undo} />
    </DecisionsContext>
  );
}

/** Stops whoever leaves the page while a decision can still be undone: it is taken back, and they are told. */
function Leaving({ sent, undo }: { sent: ReadonlyMap<string, Sent>; undo: (id: string) => void }) {
  const held = [...sent].filter(([, state]) => state.state === 'held').map(([id]) => id);
  const [dropped, setDropped] = useState(0);
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => {
      if (held.length === 0 || current.pathname === next.pathname) return false;
      for (const id of held) undo(id);
      setDropped(held.length);
      return true;
    },
    enableBeforeUnload: () => held.length > 0,
    withResolver: true,
  });
  if (blocker.status !== 'blocked') return null;
  return (
    <Dialog open onOpenChange={(shown) => !shown && blocker.reset()}>
      <DialogContent title="Nothing was sent">
        <div className="space-y-4" data-testid="decision-dropped">
          <p>
            You are leaving before the three seconds were over, so{' '}
            {dropped === 1 ? 'your decision was' : `your ${counted(dropped, 'decision')} were`} not sent. The agent
            still waits.
          </p>
          <div className="flex flex-wrap justify-end gap-2">
            <Button onClick={blocker.proceed}>Leave</Button>
            <Button variant="primary" onClick={blocker.reset}>
              Stay
            </Button>
          </div>
        </div>
      </DialogContent>
    </Dialog>
  );
}

/** The keys decide about the card that has the focus or, if none has, about the page's current one. */
function useKeys(decisions: Decisions, waiting: readonly string[], current: string | undefined) {
  const client = useQueryClient();
  const may = useScope('write');
  const target = (): ApprovalCall | undefined => {
    const focused = document.activeElement?.closest<HTMLElement>('[data-approval-id]')?.dataset.approvalId;
    const id = focused ?? current ?? '';
    if (!waiting.includes(id)) return undefined;
    return client.getQueryData(approvalCall(id, 'waiting').queryKey);
  };
  const on = (act: (call: ApprovalCall, state: Sent['state'] | undefined) => void) => () => {
    const call = target();
    if (call) act(call, decisions.sent.get(call.id)?.state);
  };
  const undecided = (state: Sent['state'] | undefined) => state === undefined || state === 'refused';
  const group = 'Approvals';
  useShortcuts(
    may && waiting.length > 0
      ? [
          {
            keys: 'y',
            label: 'Approve the call',
            group,
            run: on((call, state) => undecided(state) && decisions.decide(call.id, { status: 'approved' })),
          },
          {
            keys: 'n',
            label: 'Reject the call',
            group,
            run: on((call, state) => undecided(state) && decisions.ask({ dialog: 'reject', call })),
          },
          {
            keys: 'u',
            label: 'Undo before it is sent',
            group,
            run: on((call, state) => state === 'held' && decisions.undo(call.id)),
          },
        ]
      : [],
  );
}
