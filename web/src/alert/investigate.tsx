/** Starts an investigation of a suppressed alert, or links to the one already started. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { ArrowRight, Microscope } from 'lucide-react';
import { keys } from '@/api/alerts';
import { api, body } from '@/api/client';
import { asProblem } from '@/api/problem';
import type { SuppressedAlert } from '@/api/types';
import { useScope } from '@/app/scope';
import { Button } from '@/ui/button';
import { titleOf } from './facts';

export function Investigate({ alert }: { alert: SuppressedAlert }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const may = useScope('write');
  const investigate = useMutation({
    mutationFn: () => body(api.POST('/api/v1/suppressed/{id}/investigate', { params: { path: { id: alert.id } } })),
    // Also after an error: another person may have started it, and the list shows who.
    onSettled: () => void client.invalidateQueries({ queryKey: keys.suppressed }),
    onSuccess: ({ session_id }) => void navigate({ to: '/sessions/$sessionId', params: { sessionId: session_id } }),
  });
  if (alert.investigation_id) {
    return (
      <Button asChild size="sm">
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: alert.investigation_id }}
          title={`Started by ${alert.investigated_by}`}
          data-testid="open-investigation"
        >
          Open investigation <span className="sr-only">of {titleOf(alert)}</span> <ArrowRight aria-hidden />
        </Link>
      </Button>
    );
  }
  return (
    <span className="flex flex-wrap items-center justify-end gap-2">
      {investigate.error && (
        <span role="alert" className="text-xs break-words text-bad">
          {asProblem(investigate.error).message}
        </span>
      )}
      <Button
        size="sm"
        disabled={!may || investigate.isPending}
        title={may ? 'Start a session for this alert' : 'Your access is read-only.'}
        onClick={() => investigate.mutate()}
        data-testid="investigate"
      >
        <Microscope aria-hidden /> {investigate.isPending ? 'Starting…' : 'Investigate'}
        <span className="sr-only"> {titleOf(alert)}</span>
      </Button>
    </span>
  );
}
