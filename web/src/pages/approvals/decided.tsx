/** Requests that no longer wait: who decided, when and why. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { titleOf } from '@/alert/facts';
import { decidedApprovals } from '@/api/approvals';
import type { ApprovalRequest } from '@/api/types';
import { ApprovalBadge } from '@/approval/status';
import { Continuation } from '@/ui/continuation';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { type Column, Table } from '@/ui/table';
import { Ago } from '@/ui/time';

const columns: readonly Column<ApprovalRequest>[] = [
  {
    name: 'Call',
    heading: true,
    cell: (request) => (
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: request.session_id }}
        search={{ event: request.timeline_event_id }}
        className="font-mono text-[13px] [overflow-wrap:anywhere] text-accent underline underline-offset-4"
      >
        {request.server_name}.{request.tool_name}
      </Link>
    ),
  },
  { name: 'Alert', cell: (request) => titleOf(request) },
  { name: 'Agent', cell: (request) => request.agent_name },
  {
    name: 'Decision',
    cell: ({ approval }) => <ApprovalBadge status={approval.status} changed={approval.arguments !== undefined} />,
  },
  { name: 'By', cell: ({ approval }) => approval.decided_by || <span className="text-ink-soft">nobody</span> },
  { name: 'When', cell: ({ approval }) => approval.decided_at && <Ago at={approval.decided_at} /> },
  { name: 'Reason', cell: ({ approval }) => approval.reason, className: 'max-w-prose' },
];

export function Decided() {
  const found = useInfiniteQuery(decidedApprovals());
  if (found.data === undefined) {
    if (found.isPending) return <Loading what="decided calls" />;
    return <ProblemPanel error={found.error} retry={() => void found.refetch()} />;
  }
  const requests = found.data.pages.flatMap((page) => page.approvals);
  if (requests.length === 0) {
    return (
      <EmptyState title={<h2>Nothing decided yet</h2>}>Calls that were approved or rejected appear here.</EmptyState>
    );
  }
  return (
    <div className="rounded-lg border border-line bg-surface">
      <Table caption="Decided calls" columns={columns} rows={requests} rowKey={({ id }) => id} testId="decided-call" />
      <Continuation found={found} shown={requests.length} what="decided calls" />
    </div>
  );
}
