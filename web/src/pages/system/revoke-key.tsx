import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, body } from '@/api/client';
import { apiKeys } from '@/api/queries';
import type { APIKey } from '@/api/types';
import { Button } from '@/ui/button';
import { ProblemPanel } from '@/ui/feedback';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';

export function RevokeKey({ of: key, onClose }: { of: APIKey | null; onClose: () => void }) {
  return (
    <Dialog open={key !== null} onOpenChange={(open) => !open && onClose()}>
      {key && <Confirm of={key} onDone={onClose} />}
    </Dialog>
  );
}

function Confirm({ of: key, onDone }: { of: APIKey; onDone: () => void }) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: () => body(api.DELETE('/api/v1/keys/{id}', { params: { path: { id: key.id } } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: apiKeys().queryKey });
      onDone();
    },
  });
  return (
    <DialogContent title={`Revoke ${key.name}?`}>
      <div className="space-y-4">
        <p className="text-ink-soft">
          Whoever uses <code className="font-mono text-xs">{key.prefix}</code> is refused from this moment on, and
          browsers that logged in with it are logged out. It cannot be undone.
        </p>
        {revoking.isError && <ProblemPanel error={revoking.error} />}
        <div className="flex justify-end gap-2">
          <DialogClose asChild>
            <Button>Keep it</Button>
          </DialogClose>
          <Button
            variant="danger"
            disabled={revoking.isPending}
            onClick={() => revoking.mutate()}
            data-testid="key-revoke-confirm"
          >
            Revoke it
          </Button>
        </div>
      </div>
    </DialogContent>
  );
}
