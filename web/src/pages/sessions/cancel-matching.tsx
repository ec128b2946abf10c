/** Cancels the active sessions that match the filter, after showing their number. */
import { Ban } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import type { SessionSearch } from '@/api/queries';
import { usePageCommands } from '@/app/commands';
import { explainMissing } from '@/app/failure';
import { useScope } from '@/app/scope';
import { Button } from '@/ui/button';

// The dialog is as large as the list, and few people use it.
const CancelDialog = lazy(() =>
  import('./cancel-dialog').then((module) => ({ default: module.CancelDialog }), explainMissing),
);

/** Renders nothing if no matching session can be active, or without the write scope. */
export function CancelMatching({ filter, filtered }: { filter: SessionSearch; filtered: boolean }) {
  // The filter at the time of the click: a range that ends now moves on.
  const [asked, setAsked] = useState<SessionSearch>();
  const may = useScope('write');
  const offered = may && !filter.outcome?.length;
  const label = filtered ? 'Cancel matching…' : 'Cancel all active…';
  const ask = () => setAsked(filter);
  usePageCommands(
    offered
      ? [
          {
            id: 'cancel-matching',
            label: filtered ? 'Cancel matching sessions' : 'Cancel all active sessions',
            keywords: ['stop', 'bulk', 'storm'],
            icon: <Ban aria-hidden />,
            run: ask,
          },
        ]
      : [],
  );
  return (
    <>
      {offered && (
        <Button
          size="sm"
          className="max-md:h-11 max-md:px-3"
          onClick={ask}
          data-palette="none"
          data-testid="cancel-matching"
        >
          <Ban aria-hidden /> {label}
        </Button>
      )}
      {asked && (
        <Suspense>
          <CancelDialog filter={asked} onClose={() => setAsked(undefined)} />
        </Suspense>
      )}
    </>
  );
}
