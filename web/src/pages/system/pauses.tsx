/** The kinds of pauses, which apply to all servers, and the active ones. */
import { useQuery } from '@tanstack/react-query';
import { CirclePause, CirclePlay } from 'lucide-react';
import { useState } from 'react';
import { type PauseKind, pauses } from '@/api/operations';
import { PauseDialog } from '@/app/pause-dialog';
import { pauseEffects, pauseKinds, pauseNames, useResume } from '@/app/pauses';
import { useScope } from '@/app/scope';
import { Answer } from '@/ui/answer';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { ProblemPanel } from '@/ui/feedback';

export function PausesCard() {
  const found = useQuery(pauses());
  const [asking, setAsking] = useState<PauseKind>();
  const ending = useResume();
  const admin = useScope('admin');
  return (
    <Card aria-labelledby="system-pauses">
      <CardHeader>
        <CardTitle id="system-pauses">Pauses</CardTitle>
      </CardHeader>
      <Answer query={found} what="pauses">
        {(data) => (
          <ul className="divide-y divide-line" data-testid="system-pauses">
            {pauseKinds.map((kind) => {
              const paused = data.pauses.some((one) => one.kind === kind);
              return (
                <li key={kind} className="flex flex-wrap items-center gap-x-3 gap-y-2 px-4 py-3">
                  <div className="min-w-0 flex-1 basis-48">
                    <p className="flex items-center gap-2 font-medium">
                      {pauseNames[kind]}
                      {paused ? <Badge tone="warn">Paused</Badge> : <Badge tone="good">Active</Badge>}
                    </p>
                    <p className="text-ink-soft">While paused: {pauseEffects[kind]}</p>
                  </div>
                  <Button
                    size="sm"
                    className="max-md:h-11 max-md:px-3"
                    disabled={!admin || ending.isPending}
                    title={admin ? undefined : 'This needs the admin role.'}
                    onClick={() => (paused ? ending.mutate(kind) : setAsking(kind))}
                    data-palette="none"
                    data-testid={`${paused ? 'end' : 'begin'}-pause-${kind}`}
                  >
                    {paused ? <CirclePlay aria-hidden /> : <CirclePause aria-hidden />}
                    {paused ? 'Resume' : 'Pause…'}
                    <span className="sr-only"> {kind}</span>
                  </Button>
                </li>
              );
            })}
          </ul>
        )}
      </Answer>
      {ending.error && <ProblemPanel className="m-4" error={ending.error} />}
      {asking && <PauseDialog kind={asking} onClose={() => setAsking(undefined)} />}
    </Card>
  );
}
