/**
 * Decisions on tool calls. They are kept for the whole page: the card of a call leaves the document when it is scrolled out of
 * sight, and what somebody types or has sent must not go with it.
 */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { createContext, type ReactNode, useContext, useMemo, useState } from 'react';
import { type ApprovalCall, approvalKey, type Decision, decide } from '@/api/approvals';
import type { SessionStore, SessionView } from '@/live/view';
import { isConflict } from '@/ui/conflict';
import { EditDialog, RejectDialog } from './approval-dialogs';

/** What became of a decision of this page. */
export type Sent =
  | { state: 'sending' }
  /** The server took it; the session has not reported it yet. */
  | { state: 'accepted' }
  | { state: 'refused'; error: Error };

type Asking = { dialog: 'reject' | 'edit'; eventId: string; call: ApprovalCall };

export interface Approvals {
  /** By the id of the approval. */
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
      // Somebody else decided, or time did: what there is now is loaded.
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
        // An earlier refusal says nothing about what is typed now.
        setSent((before) => new Map([...before].filter(([id]) => id !== next.call.id)));
        setAsking(next);
      },
    }),
    [sent, mutate],
  );
  // A dialog about a call that no longer waits closes by itself.
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
