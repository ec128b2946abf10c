/** Shows how many active sessions a filter matches, and cancels them. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, body } from '@/api/client';
import type { BulkCancel } from '@/api/operations';
import { keys, type SessionSearch } from '@/api/queries';
import { counted } from '@/text/format';
import { Confirm } from '@/ui/confirm';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { Dialog, DialogContent } from '@/ui/overlay';

/** How many sessions the server cancels per request. */
const most = 10_000;

/** Returns the server's filter. The outcome is dropped, because only finished sessions have one. */
function cancelFilterOf({ status, outcome: _, order: __, ...filter }: SessionSearch) {
  return { ...filter, status: status?.join(',') || undefined };
}

const request = (filter: SessionSearch, dry_run: boolean, signal?: AbortSignal) =>
  body(api.POST('/api/v1/sessions/cancel', { signal, body: { filter: cancelFilterOf(filter), dry_run } }));

export function CancelDialog({ filter, onClose }: { filter: SessionSearch; onClose: () => void }) {
  const client = useQueryClient();
  const would = useQuery({
    queryKey: [...keys.sessions, 'would-cancel', filter] as const,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) => request(filter, true, signal),
  });
  const cancelling = useMutation({
    mutationFn: () => request(filter, false),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: keys.sessions });
      onClose();
    },
  });
  const close = (open: boolean) => open || onClose();
  if (would.data === undefined || would.data.requested === 0) {
    return (
      <Dialog open onOpenChange={close}>
        <DialogContent title="Cancel matching sessions">
          {would.data ? (
            <p className="text-ink-soft" data-testid="cancel-none">
              {nothing(would.data)}
            </p>
          ) : would.error ? (
            <ProblemPanel error={would.error} retry={() => void would.refetch()} />
          ) : (
            <Loading what="the number of sessions" rows={1} />
          )}
        </DialogContent>
      </Dialog>
    );
  }
  const number = counted(would.data.requested, 'session');
  return (
    <Confirm
      open
      onOpenChange={close}
      title={`Cancel ${number}?`}
      action={`Cancel ${number}`}
      danger
      busy={cancelling.isPending}
      error={cancelling.error}
      onConfirm={() => cancelling.mutate()}
    >
      <p data-testid="cancel-number">
        {number} that {would.data.requested === 1 ? 'is' : 'are'} queued or running will be cancelled. Findings so far
        are kept, but the sessions cannot be resumed.
        {would.data.requested >= most && ' More sessions may match; repeat this afterwards.'}
      </p>
    </Confirm>
  );
}

function nothing(result: BulkCancel): string {
  return result.skipped.length > 0
    ? 'All matching sessions are being cancelled already.'
    : 'No queued or running session matches these filters.';
}
