/**
 * Decisions on tool calls. The page keeps them, because the card of a call unmounts when it is scrolled out of view,
 * and typed or sent input must survive that.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { type ApprovalCall, approvalKey, type Decision, decide } from '@/api/approvals';
import type { SessionStore, SessionView } from '@/live/view';
import { isConflict } from '@/ui/conflict';
import { EditDialog, RejectDialog } from './approval-dialogs';

/** The state of a decision made on this page. */
export type Sent =
  | { state: 'sending' }
  /** The server accepted it; the session has not reported it yet. */
  | { state: 'accepted' }
  | { state: 'refused'; error: Error };

type Asking = { dialog: 'reject' | 'edit'; eventId: string; call: ApprovalCall };

export interface Approvals {
  /** By approval id. */
  sent: ReadonlyMap<string, Sent>;
  decide(id: string, decision: Decision): void;
  ask(asking: Asking): void;
}

const ApprovalsContext = createContext<Approvals | undefined>(undefined);

export function useApprovals(): Approvals {
  const approvals = useContext(ApprovalsContext);
  if (!approvals) throw new Error('an approval is shown outside of a session');
  return approvals;
}

export function ApprovalsProvider({
  store,
  view,
  children,
}: {
  store: SessionStore;
  view: SessionView;
  children: ReactNode;
}) {
  const client = useQueryClient();
  const [sent, setSent] = useState<ReadonlyMap<string, Sent>>(new Map());
  const [asking, setAsking] = useState<Asking>();
  const mark = (id: string, state: Sent) => setSent((before) => new Map(before).set(id, state));
  const { mutate } = useMutation({
    mutationFn: ({ id, decision }: { id: string; decision: Decision }) => decide(id, decision),
    onMutate: ({ id }) => mark(id, { state: 'sending' }),
    onSuccess: (_, { id }) => {
      mark(id, { state: 'accepted' });
      setAsking(undefined);
    },
    onError: (error, { id }) => {
      mark(id, { state: 'refused', error });
      if (!isConflict(error)) return;
      // Someone else decided, or the request expired: reload the current state.
      setAsking(undefined);
      store.reload();
      void client.invalidateQueries({ queryKey: approvalKey(id) });
    },
  });
  const approvals = useMemo<Approvals>(
    () => ({
      sent,
      decide: (id, decision) => mutate({ id, decision }),
      ask: (next) => {
        // An earlier error does not apply to the new input.
        setSent((before) => new Map([...before].filter(([id]) => id !== next.call.id)));
        setAsking(next);
      },
    }),
    [sent, mutate],
  );
  // The dialog closes automatically when its call no longer waits.
  const open = asking !== undefined && view.waiting.includes(asking.eventId);
  const state = asking && sent.get(asking.call.id);
  const shared = {
    busy: state?.state === 'sending',
    error: state?.state === 'refused' ? state.error : null,
    close: () => setAsking(undefined),
  };
  return (
    <ApprovalsContext value={approvals}>
      {children}
      {asking?.dialog === 'reject' && (
        <RejectDialog key={asking.call.id} {...shared} open={open} call={asking.call} decide={approvals.decide} />
      )}
      {asking?.dialog === 'edit' && (
        <EditDialog key={asking.call.id} {...shared} open={open} call={asking.call} decide={approvals.decide} />
      )}
    </ApprovalsContext>
  );
}
