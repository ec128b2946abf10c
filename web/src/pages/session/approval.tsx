/** The tool calls of a session that need an approval. */
import type { ReactNode } from 'react';
import { ApprovalCard } from '@/approval/card';
import { DecisionsProvider } from '@/approval/decisions';
import { approvalOf } from '@/live/approval';
import type { EventView, SessionStore, SessionView } from '@/live/view';
import { toolCallFacts } from './timeline/preview';

function idOf(event: EventView | undefined): string {
  const id = event?.metadata?.approval_id;
  return typeof id === 'string' ? id : '';
}

export function EventApproval({ event }: { event: EventView }) {
  const approval = approvalOf(event);
  if (approval === undefined) return null;
  const { server, tool } = toolCallFacts(event);
  return (
    <ApprovalCard
      id={idOf(event)}
      approval={approval}
      server={server}
      tool={tool}
      createdAt={event.created_at}
      waiting={approval.status === 'waiting' && event.status === 'streaming'}
    />
  );
}

export function SessionDecisions({
  store,
  view,
  children,
}: {
  store: SessionStore;
  view: SessionView;
  children: ReactNode;
}) {
  return (
    <DecisionsProvider waiting={view.waiting.map((id) => idOf(store.event(id)))} reload={() => store.reload()}>
      {children}
    </DecisionsProvider>
  );
}
