import { useEffect, useRef } from 'react';
import { Button } from './button';
import { ProblemPanel } from './feedback';
import { useInView } from './sight';

interface More {
  hasNextPage: boolean;
  isFetching: boolean;
  isFetchingNextPage: boolean;
  isFetchNextPageError: boolean;
  error: unknown;
  fetchNextPage: () => unknown;
}

/**
 * Loads the next page when the end of the list comes near; the button is the fallback if that is not detected or fails.
 */
export function Continuation({ found, shown, what }: { found: More; shown: number; what: string }) {
  const end = useRef<HTMLDivElement>(null);
  const near = useInView(end, { before: false, ahead: 600 });
  const { hasNextPage, isFetching, isFetchNextPageError, fetchNextPage } = found;
  const wanted = near && hasNextPage && !isFetching && !isFetchNextPageError;
  useEffect(() => {
    if (wanted) void fetchNextPage();
  }, [wanted, fetchNextPage]);
  return (
    <div ref={end} className="flex min-h-8 flex-col items-center gap-2 pb-2">
      {isFetchNextPageError && <ProblemPanel className="w-full" error={found.error} />}
      {hasNextPage ? (
        <Button
          size="sm"
          disabled={found.isFetchingNextPage}
          onClick={() => void fetchNextPage()}
          data-testid="load-more"
        >
          {found.isFetchingNextPage ? 'Loading…' : 'Load more'}
        </Button>
      ) : (
        shown > 10 && (
          <p className="text-xs text-ink-soft">
            All {shown} {what} shown
          </p>
        )
      )}
    </div>
  );
}
