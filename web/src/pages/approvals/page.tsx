/** The Approvals page: every tool call that waits for a person and, behind a tab, what was decided before. */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { CircleCheckBig } from 'lucide-react';
import { useState } from 'react';
import { titleOf } from '@/alert/facts';
import { SeverityBadge } from '@/alert/severity';
import { approvalsKey, waitingApprovals } from '@/api/approvals';
import type { ApprovalRequest } from '@/api/types';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { ApprovalCard } from '@/approval/card';
import { DecisionsProvider } from '@/approval/decisions';
import { approvalWord } from '@/approval/words';
import { Answer } from '@/ui/answer';
import { EmptyState } from '@/ui/feedback';
import { Tabs, TabsContent, TabsList, TabsTrigger } from '@/ui/tabs';
import { Decided } from './decided';

const route = getRouteApi('/shell/approvals');

export function ApprovalsPage() {
  const { show } = route.useSearch();
  const navigate = route.useNavigate();
  const client = useQueryClient();
  const waiting = useQuery(waitingApprovals());
  const reload = () => {
    const refetchType = document.hidden ? 'none' : 'active';
    void client.invalidateQueries({ queryKey: approvalsKey, refetchType }, { cancelRefetch: false });
  };
  const count = waiting.data?.approvals.length ?? 0;
  useTitle(count > 0 ? `(${count}) Approvals` : 'Approvals');
  return (
    <div className="mx-auto w-full max-w-[80rem] p-4">
      <h1 className="mb-2 text-lg font-semibold">Approvals</h1>
      <Tabs
        value={show ?? 'waiting'}
        onValueChange={(value) => void navigate({ search: { show: value === 'decided' ? 'decided' : undefined } })}
      >
        <TabsList aria-label="Approvals">
          <TabsTrigger value="waiting" data-testid="approvals-waiting">
            {approvalWord('waiting')}
            {count > 0 && <span className="tabular-nums">({count})</span>}
          </TabsTrigger>
          <TabsTrigger value="decided" data-testid="approvals-decided">
            Decided
          </TabsTrigger>
        </TabsList>
        <TabsContent value="waiting" className="pt-4">
          <Answer query={waiting} what="calls that wait for approval">
            {({ approvals }) => <Waiting approvals={approvals} reload={reload} />}
          </Answer>
        </TabsContent>
        <TabsContent value="decided" className="pt-4">
          <Decided />
        </TabsContent>
      </Tabs>
    </div>
  );
}

function Waiting({ approvals, reload }: { approvals: readonly ApprovalRequest[]; reload: () => void }) {
  const ids = approvals.map(({ id }) => id);
  const [chosen, setChosen] = useState<string>();
  const current = ids.find((id) => id === chosen) ?? ids[0];
  const step = (by: 1 | -1) => {
    const at = Math.min(Math.max(ids.indexOf(current ?? '') + by, 0), ids.length - 1);
    setChosen(ids[at]);
    document.querySelector<HTMLElement>(`[data-approval-id="${ids[at]}"]`)?.focus();
  };
  useShortcuts(
    ids.length > 1
      ? [
          { keys: 'j', label: 'Next call', group: 'Approvals', repeat: true, run: () => step(1) },
          { keys: 'k', label: 'Previous call', group: 'Approvals', repeat: true, run: () => step(-1) },
        ]
      : [],
  );
  return (
    // A decision that can still be undone stays here when its call disappears, and so does the provider.
    <DecisionsProvider waiting={ids} current={current} reload={reload}>
      {approvals.length === 0 ? (
        <EmptyState title={<h2>No call waits for approval</h2>} icon={<CircleCheckBig aria-hidden />}>
          When an agent wants to call a tool for which the configuration asks a person, the call appears here.
        </EmptyState>
      ) : (
        <ul className="space-y-4" data-testid="approvals-list">
          {approvals.map((request) => (
            <li key={request.id} onFocus={() => setChosen(request.id)}>
              <ApprovalCard
                id={request.id}
                approval={request.approval}
                server={request.server_name}
                tool={request.tool_name}
                createdAt={request.created_at}
                about={<About request={request} />}
                current={approvals.length > 1 && request.id === current}
                waiting
              />
            </li>
          ))}
        </ul>
      )}
    </DecisionsProvider>
  );
}

/** The alert of a call, with a link to the call in its session. */
function About({ request }: { request: ApprovalRequest }) {
  return (
    <h2 className="flex flex-wrap items-center gap-x-2 gap-y-1 font-medium">
      <SeverityBadge severity={request.severity} />
      <Link
        to="/sessions/$sessionId"
        params={{ sessionId: request.session_id }}
        search={{ event: request.timeline_event_id }}
        className="min-w-0 [overflow-wrap:anywhere] text-accent underline underline-offset-4"
        data-testid="approval-session"
      >
        {titleOf(request)}
      </Link>
      {request.team !== '' && <span className="text-[13px] font-normal text-ink-soft">{request.team}</span>}
    </h2>
  );
}
