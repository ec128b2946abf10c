/** The alerts of a storm. One session investigates all of them. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { ChevronDown, ChevronRight } from 'lucide-react';
import { useId } from 'react';
import * as alerts from '@/api/alerts';
import type { AlertState } from '@/api/types';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { SuppressedRow } from './suppressed-row';

export function StormMembers({ sessionId, className }: { sessionId: string; className?: string }) {
  const found = useInfiniteQuery(alerts.suppressed({ session_id: sessionId, reason: 'storm' }));
  if (found.isPending) return <Loading what="the alerts of the storm" rows={3} />;
  if (found.data === undefined) return <ProblemPanel error={found.error} retry={() => void found.refetch()} />;
  const rows = found.data.pages.flatMap((page) => page.alerts);
  return (
    <div className={className}>
      <ul className="divide-y divide-line" aria-label="Alerts of the storm" data-testid="storm-members">
        {rows.map((alert) => (
          <SuppressedRow key={alert.id} alert={alert} />
        ))}
      </ul>
      {found.hasNextPage && (
        <Button
          size="sm"
          className="m-2"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? 'Loading…' : 'Load more'}
        </Button>
      )}
    </div>
  );
}

/** Describes how large a storm is and how much of it still fires. */
export function stormSize({ members, firing_members }: Pick<AlertState, 'members' | 'firing_members'>): string {
  return `${counted(members, 'alert')} in this storm, ${firing_members} firing`;
}

/**
 * The members below the row of their session, shown on request. The parent holds the open state because the row can
 * unmount.
 */
export function StormFold({
  sessionId,
  alert,
  open,
  onToggle,
}: {
  sessionId: string;
  alert: AlertState;
  open: boolean;
  onToggle: (sessionId: string) => void;
}) {
  const id = useId();
  return (
    <div className="border-t border-line bg-sunken">
      <button
        type="button"
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => onToggle(sessionId)}
        className="flex min-h-8 w-full items-center gap-1.5 px-4 py-1 text-left text-[13px] text-ink-soft hover:text-ink [&_svg]:size-4"
        data-testid="storm-toggle"
      >
        {open ? <ChevronDown aria-hidden /> : <ChevronRight aria-hidden />}
        {stormSize(alert)}
      </button>
      {open && (
        <div id={id} className="bg-surface">
          <StormMembers sessionId={sessionId} className="md:pl-6" />
        </div>
      )}
    </div>
  );
}
