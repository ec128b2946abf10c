import { useMutation, useQueryClient } from '@tanstack/react-query';
import { RotateCcw } from 'lucide-react';
import { api, body } from '@/api/client';
import * as notes from '@/api/notes';
import { asProblem } from '@/api/problem';
import { useScope } from '@/app/scope';
import { Button } from '@/ui/button';

/** Reprocesses a note. Entities that a person accepted or edited are kept. */
export function ReprocessButton({ noteId }: { noteId: string }) {
  const client = useQueryClient();
  const may = useScope('write');
  const again = useMutation({
    mutationFn: () => body(api.POST('/api/v1/notes/{id}/reprocess', { params: { path: { id: noteId } } })),
    onSettled: () => client.invalidateQueries({ queryKey: notes.keys.notes }),
  });
  return (
    <>
      <Button
        size="sm"
        disabled={!may || again.isPending}
        title="Extract again. Entities that a person accepted or edited are kept."
        onClick={() => again.mutate()}
        data-testid="note-reprocess"
      >
        <RotateCcw aria-hidden /> Reprocess
      </Button>
      {again.error && (
        <p role="alert" className="text-xs break-words text-bad">
          {asProblem(again.error).message}
        </p>
      )}
    </>
  );
}
