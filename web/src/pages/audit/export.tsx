import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { type AuditFilter, exportAudit, exportLimit } from '@/api/audit';
import { asProblem } from '@/api/problem';
import { Button } from '@/ui/button';

/** Downloads the matching rows as JSON lines. */
export function Export({ filter }: { filter: AuditFilter }) {
  const { mutate, isPending, data, error } = useMutation({
    mutationFn: () => exportAudit(filter),
    onSuccess: ({ lines }) => {
      const address = URL.createObjectURL(new Blob([lines], { type: 'application/x-ndjson' }));
      const link = document.createElement('a');
      link.href = address;
      link.download = 'audit.jsonl';
      link.click();
      URL.revokeObjectURL(address);
    },
  });
  return (
    <>
      <span role="status" className="text-[13px] text-ink-soft">
        {error && asProblem(error).message}
        {data?.more && `Only the newest ${exportLimit.toLocaleString('en')} rows. For all, run tarsy audit export.`}
      </span>
      <Button size="sm" disabled={isPending} onClick={() => mutate()} data-testid="audit-export">
        <Download aria-hidden /> {isPending ? 'Exporting…' : 'Export JSON lines'}
      </Button>
    </>
  );
}
