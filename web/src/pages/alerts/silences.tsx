/** Silences, which keep matching alerts from being investigated for a while. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { BellOff, Plus } from 'lucide-react';
import { useState } from 'react';
import { SilenceDialog } from '@/alert/silence-dialog';
import * as alerts from '@/api/alerts';
import { api, body } from '@/api/client';
import type { Silence } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import { useScope } from '@/app/scope';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Confirm } from '@/ui/confirm';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { DateTime } from '@/ui/time';
import { silenceState } from './silence-state';

const route = getRouteApi('/shell/alerts');

export function SilencesTab() {
  const { all = false, silence: chosen } = route.useSearch();
  const navigate = route.useNavigate();
  const may = useScope('write');
  const [adding, setAdding] = useState(false);
  const [ending, setEnding] = useState<Silence>();
  const found = useQuery(alerts.silences(all));
  const rows = found.data?.silences ?? [];
  usePageCommands(may ? [{ id: 'add-silence', label: 'Add silence', run: () => setAdding(true) }] : []);
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <label className="flex min-h-9 cursor-pointer items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={all}
            onChange={(event) =>
              void navigate({ search: { tab: 'silences', all: event.target.checked ? true : undefined } })
            }
            data-testid="silences-all"
          />
          Show silences that have ended
        </label>
        <Button
          variant="primary"
          disabled={!may}
          title={may ? undefined : 'Your API key is read-only.'}
          onClick={() => setAdding(true)}
          data-testid="add-silence"
        >
          <Plus aria-hidden /> Add silence
        </Button>
      </div>
      {found.isPending ? (
        <Loading what="the silences" rows={3} />
      ) : found.data === undefined ? (
        <ProblemPanel error={found.error} retry={() => void found.refetch()} />
      ) : rows.length === 0 ? (
        <EmptyState title={<h2>No silences</h2>} icon={<BellOff aria-hidden />}>
          <p>A silence keeps matching alerts from being investigated until it ends, for example during planned work.</p>
        </EmptyState>
      ) : (
        <ul
          className="divide-y divide-line rounded-lg border border-line bg-surface"
          aria-label="Silences"
          data-testid="silences"
        >
          {rows.map((silence) => (
            <Row key={silence.id} silence={silence} chosen={silence.id === chosen} may={may} onEnd={setEnding} />
          ))}
        </ul>
      )}
      {adding && <SilenceDialog onClose={() => setAdding(false)} />}
      {ending && <EndSilence silence={ending} onClose={() => setEnding(undefined)} />}
    </div>
  );
}

function Row({
  silence,
  chosen,
  may,
  onEnd,
}: {
  silence: Silence;
  chosen: boolean;
  may: boolean;
  onEnd: (silence: Silence) => void;
}) {
  const state = silenceState(silence, useNow(10_000));
  return (
    <li
      className={cn('flex flex-wrap items-center gap-x-3 gap-y-1.5 px-4 py-2.5', chosen && 'bg-accent-soft')}
      aria-current={chosen || undefined}
      data-testid="silence"
      data-state={state.state}
    >
      <div className="min-w-0 flex-1 basis-64 space-y-1">
        <ul className="flex flex-wrap gap-1.5" aria-label="Matchers">
          {silence.matchers.map((matcher) => (
            <li key={matcher} className="max-w-full rounded bg-idle-soft px-1.5 font-mono text-[13px] break-all">
              {matcher}
            </li>
          ))}
        </ul>
        <p className="break-words">{silence.reason}</p>
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-[13px] text-ink-soft">
          <Badge tone={state.tone} icon={BellOff}>
            {state.label}
          </Badge>
          <span>
            {state.state === 'pending' && (
              <>
                from <DateTime at={silence.starts_at} />{' '}
              </>
            )}
            until <DateTime at={silence.ends_at} />
          </span>
          <span className="break-words">
            by {silence.author}
            {silence.ended_by && `, ended by ${silence.ended_by}`}
          </span>
          <Link to="/alerts" search={{ reason: 'silence' }} className="text-accent underline underline-offset-2">
            Silenced alerts
          </Link>
        </p>
      </div>
      {state.state !== 'ended' && (
        <Button
          size="sm"
          disabled={!may}
          title={may ? undefined : 'Your API key is read-only.'}
          onClick={() => onEnd(silence)}
          data-testid="end-silence"
        >
          End<span className="sr-only"> silence {silence.matchers.join(', ')}</span>
        </Button>
      )}
    </li>
  );
}

function EndSilence({ silence, onClose }: { silence: Silence; onClose: () => void }) {
  const client = useQueryClient();
  const end = useMutation({
    mutationFn: () => body(api.DELETE('/api/v1/silences/{id}', { params: { path: { id: silence.id } } })),
    onSuccess: () => {
      void client.invalidateQueries({ queryKey: alerts.keys.silences });
      onClose();
    },
  });
  return (
    <Confirm
      open
      onOpenChange={(open) => open || onClose()}
      title="End this silence?"
      action="End silence"
      busy={end.isPending}
      error={end.error}
      onConfirm={() => end.mutate()}
    >
      Matching alerts are investigated again. Alerts that it has kept back stay listed as suppressed.
    </Confirm>
  );
}
