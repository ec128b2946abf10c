/** Pauses of all servers: a banner on every page, and the commands to pause and resume. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { CirclePause, CirclePlay } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { type Pause, type PauseKind, pauses, resume } from '@/api/operations';
import { asProblem } from '@/api/problem';
import { Button } from '@/ui/button';
import { DateTime } from '@/ui/time';
import { usePageCommands } from './commands';
import { explainMissing } from './failure';
import { useScope } from './scope';

const PauseDialog = lazy(() =>
  import('./pause-dialog').then((module) => ({ default: module.PauseDialog }), explainMissing),
);

export const pauseNames: Record<PauseKind, string> = { intake: 'Intake', claiming: 'Claiming' };

export const pauseEffects: Record<PauseKind, string> = {
  intake: 'New alerts and re-runs are refused; senders try again.',
  claiming: 'New alerts wait. Running sessions continue.',
};

export const pauseKinds = Object.keys(pauseNames) as PauseKind[];

/** Ends a pause and reloads the pauses. */
export function useResume() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: resume,
    onSettled: () => void client.invalidateQueries({ queryKey: pauses().queryKey }),
  });
}

export function PauseBanner() {
  const { data } = useQuery(pauses());
  const [asking, setAsking] = useState<PauseKind>();
  const ending = useResume();
  const admin = useScope('admin');
  const active = data?.pauses ?? [];
  usePageCommands(
    admin
      ? pauseKinds.map((kind) => {
          const paused = active.some((one) => one.kind === kind);
          return {
            id: `pause ${kind}`,
            label: `${paused ? 'Resume' : 'Pause'} ${kind}`,
            keywords: ['stop', 'maintenance', 'on call'],
            icon: paused ? <CirclePlay aria-hidden /> : <CirclePause aria-hidden />,
            run: paused ? () => ending.mutate(kind) : () => setAsking(kind),
          };
        })
      : [],
  );
  return (
    <>
      <div role="status">
        {active.map((one) => (
          <Banner
            key={one.kind}
            pause={one}
            resume={admin ? () => ending.mutate(one.kind) : undefined}
            busy={ending.isPending}
            error={ending.variables === one.kind ? ending.error : null}
          />
        ))}
      </div>
      {asking && (
        <Suspense>
          <PauseDialog kind={asking} onClose={() => setAsking(undefined)} />
        </Suspense>
      )}
    </>
  );
}

function Banner({
  pause,
  resume,
  busy,
  error,
}: {
  pause: Pause;
  resume: (() => void) | undefined;
  busy: boolean;
  error: Error | null;
}) {
  return (
    <div
      className="flex flex-wrap items-center gap-x-3 gap-y-1 border-b border-warn/40 bg-warn-soft px-4 py-1.5 text-warn"
      data-testid="pause-banner"
      data-kind={pause.kind}
    >
      <CirclePause className="size-4 shrink-0" aria-hidden />
      <p className="min-w-0 flex-1 basis-64 break-words">
        <strong className="font-semibold">{pauseNames[pause.kind]} is paused</strong> by {pause.author}{' '}
        {pause.ends_at ? (
          <>
            until <DateTime at={pause.ends_at} />
          </>
        ) : (
          'until it is resumed'
        )}
        . {pauseEffects[pause.kind]}
        {pause.reason && <> Reason: {pause.reason}</>}
        {error && <span className="block text-bad">Could not resume: {asProblem(error).message}</span>}
      </p>
      {resume && (
        <Button
          size="sm"
          className="max-md:h-11 max-md:px-3"
          disabled={busy}
          onClick={resume}
          data-palette="none"
          data-testid={`resume-${pause.kind}`}
        >
          <CirclePlay aria-hidden /> Resume
          <span className="sr-only"> {pause.kind}</span>
        </Button>
      )}
    </div>
  );
}
