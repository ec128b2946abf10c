/** The numbers in the navigation: what waits for a person. */
import { queryOptions, useQuery, useQueryClient } from '@tanstack/react-query';
import { approvalsKey, waitingApprovals } from '@/api/approvals';
import { reviewCount } from '@/api/notes';
import { useSessionsFeed } from '@/live/hooks';
import { type NavigationEntry, pages } from './navigation';

/** A badge is not worth more than a request a minute; the feed brings changes sooner. */
const waitingCount = () =>
  queryOptions({
    ...waitingApprovals(),
    staleTime: 30_000,
    refetchInterval: 60_000,
    select: ({ approvals }) => approvals.length,
  });

/** Keeps the lists of approvals and their number up to date. Only the frame calls it. */
export function useLiveApprovals(): void {
  const client = useQueryClient();
  useSessionsFeed(() => {
    const refetchType = document.hidden ? 'none' : 'active';
    void client.invalidateQueries({ queryKey: approvalsKey, refetchType }, { cancelRefetch: false });
  });
}

/** The number of an entry or of the entries in a menu; renders nothing if it is zero or unknown. */
export function Waiting({ entries }: { entries: readonly NavigationEntry[] }) {
  if (entries.includes(pages.approvals)) return <Approvals />;
  if (entries.includes(pages.review)) return <Reviews />;
  return null;
}

function Approvals() {
  const { data: count = 0 } = useQuery(waitingCount());
  return <Count count={count} what="waiting" testId="approvals-count" />;
}

function Reviews() {
  const { data: count = 0 } = useQuery(reviewCount());
  return <Count count={count} what="open" testId="review-count" />;
}

function Count({ count, what, testId }: { count: number; what: string; testId: string }) {
  if (count === 0) return null;
  return (
    <span
      className="rounded-full bg-accent px-1.5 text-xs leading-5 font-semibold text-accent-ink tabular-nums max-md:absolute max-md:top-1 max-md:left-[calc(50%+0.375rem)] max-md:leading-4"
      data-count
      data-testid={testId}
    >
      {count > 99 ? '99+' : count}
      <span className="sr-only"> {what}</span>
    </span>
  );
}
