import { useMutation, useQueryClient } from '@tanstack/react-query';
import { api, body } from '@/api/client';
import { apiKeys } from '@/api/queries';
import type { APIKey } from '@/api/types';
import { Confirm } from '@/ui/confirm';

export function RevokeKey({ of: key, onClose }: { of: APIKey | null; onClose: () => void }) {
  const client = useQueryClient();
  const revoking = useMutation({
    mutationFn: (id: string) => body(api.DELETE('/api/v1/keys/{id}', { params: { path: { id } } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: apiKeys().queryKey });
      onClose();
    },
  });
  const close = () => {
    revoking.reset();
    onClose();
  };
  return (
    <Confirm
      open={key !== null}
      onOpenChange={(open) => !open && close()}
      title={`Revoke ${key?.name}?`}
      action="Revoke key"
      back="Keep key"
      danger
      busy={revoking.isPending}
      error={revoking.error}
      onConfirm={() => key && revoking.mutate(key.id)}
      testId="key-revoke-confirm"
    >
      Requests with <code className="font-mono text-xs">{key?.prefix}</code> are refused from now on, and browsers that
      logged in with it are logged out. This cannot be undone.
    </Confirm>
  );
}
