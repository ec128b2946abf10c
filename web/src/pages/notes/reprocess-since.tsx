import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { api, body } from '@/api/client';
import * as notes from '@/api/notes';
import { asProblem } from '@/api/problem';
import { useScope } from '@/app/scope';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { Input } from '@/ui/input';

/** Reprocesses all notes since a chosen day. Collapsed by default. */
export function ReprocessSince() {
  const client = useQueryClient();
  const may = useScope('write');
  const [day, setDay] = useState('');
  const again = useMutation({
    mutationFn: (since: string) => body(api.POST('/api/v1/notes/reprocess', { body: { since } })),
    onSettled: () => client.invalidateQueries({ queryKey: notes.keys.notes }),
  });
  return (
    <details className="ml-auto" data-testid="reprocess-since">
      <summary className="cursor-pointer text-[13px] text-accent">Reprocess notes since…</summary>
      <form
        className="mt-2 flex flex-wrap items-center gap-2"
        onSubmit={(event) => {
          event.preventDefault();
          again.mutate(`${day}T00:00:00Z`);
        }}
      >
        <Input
          type="date"
          className="w-auto"
          aria-label="Captured on or after (UTC)"
          required
          value={day}
          onChange={(event) => setDay(event.target.value)}
          data-testid="reprocess-day"
        />
        <Button type="submit" disabled={!may || again.isPending} data-testid="reprocess-all">
          <RotateCcw aria-hidden /> Reprocess
        </Button>
        <span className="text-xs text-ink-soft">Entities that a person accepted or edited are kept.</span>
        {again.data && (
          <p role="status" className="basis-full">
            {again.data.count === 0
              ? 'No processed notes since then.'
              : `Reprocessing ${counted(again.data.count, 'note')}.`}
          </p>
        )}
        {again.error && (
          <p role="alert" className="basis-full break-words text-bad">
            {asProblem(again.error).message}
          </p>
        )}
      </form>
    </details>
  );
}
