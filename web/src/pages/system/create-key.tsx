import { useMutation, useQueryClient } from '@tanstack/react-query';
import { TriangleAlert } from 'lucide-react';
import { useId, useState } from 'react';
import { api, body } from '@/api/client';
import { asProblem } from '@/api/problem';
import { apiKeys } from '@/api/queries';
import type { APIKey } from '@/api/types';
import { Button } from '@/ui/button';
import { CopyButton } from '@/ui/copy';
import { ProblemPanel } from '@/ui/feedback';
import { Input } from '@/ui/input';
import { DialogClose, DialogContent } from '@/ui/overlay';

type Scope = APIKey['scopes'][number];

/** Each scope includes the previous ones. */
const scopes: readonly { value: Scope; label: string; does: string }[] = [
  { value: 'read', label: 'Read', does: 'can view everything' },
  { value: 'write', label: 'Write', does: 'can also submit, ask, cancel and delete' },
  { value: 'admin', label: 'Admin', does: 'can also manage keys' },
];

/** How long a key is valid, in days; 0 means that it never expires. */
const lifetimes: readonly { days: number; label: string }[] = [
  { days: 0, label: 'Never' },
  { days: 7, label: 'In 7 days' },
  { days: 30, label: 'In 30 days' },
  { days: 90, label: 'In 90 days' },
  { days: 365, label: 'In a year' },
];

function expiry(days: number): { expires_at?: string } {
  return days === 0 ? {} : { expires_at: new Date(Date.now() + days * 86_400_000).toISOString() };
}

/** Parses the comma-separated names of teams. */
function limits(text: string): { teams?: string[] } {
  const teams = text
    .split(',')
    .map((team) => team.trim())
    .filter(Boolean);
  return teams.length === 0 ? {} : { teams };
}

/** The content of a dialog; closing it discards the secret. */
export function CreateKey() {
  const client = useQueryClient();
  const [name, setName] = useState('');
  const [scope, setScope] = useState<Scope>('read');
  const [days, setDays] = useState(0);
  const [teams, setTeams] = useState('');
  const making = useMutation({
    mutationFn: () =>
      body(api.POST('/api/v1/keys', { body: { name, scopes: [scope], ...expiry(days), ...limits(teams) } })),
    onSuccess: () => void client.invalidateQueries({ queryKey: apiKeys().queryKey }),
  });
  if (making.data) return <Secret name={making.data.name} secret={making.data.key} />;
  return (
    <KeyForm
      name={name}
      scope={scope}
      days={days}
      teams={teams}
      error={making.error}
      pending={making.isPending}
      onName={setName}
      onScope={setScope}
      onDays={setDays}
      onTeams={setTeams}
      onSubmit={() => making.mutate()}
    />
  );
}

function KeyForm(props: {
  name: string;
  scope: Scope;
  days: number;
  teams: string;
  error: Error | null;
  pending: boolean;
  onName: (name: string) => void;
  onScope: (scope: Scope) => void;
  onDays: (days: number) => void;
  onTeams: (teams: string) => void;
  onSubmit: () => void;
}) {
  const id = useId();
  const problem = props.error && asProblem(props.error);
  const nameIsWrong = problem?.field === 'name';
  return (
    <DialogContent title="New API key" description="The secret is shown once, right after the key is created.">
      <form
        className="space-y-4"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          if (!props.pending) props.onSubmit();
        }}
      >
        <div className="space-y-1.5">
          <label htmlFor={`${id}-name`} className="font-medium">
            Name
          </label>
          <Input
            id={`${id}-name`}
            value={props.name}
            onChange={(event) => props.onName(event.target.value)}
            placeholder="alertmanager"
            autoComplete="off"
            aria-invalid={nameIsWrong || undefined}
            aria-describedby={nameIsWrong ? `${id}-problem` : undefined}
            data-testid="key-name"
          />
          {nameIsWrong && (
            <p id={`${id}-problem`} className="break-words text-bad" role="alert">
              {problem.message}
            </p>
          )}
          <p className="text-xs text-ink-soft">Shown as the author of everything done with this key.</p>
        </div>
        <fieldset className="space-y-1">
          <legend className="mb-1 font-medium">Scope</legend>
          {scopes.map((choice) => (
            <label key={choice.value} className="flex min-h-7 items-center gap-2">
              <input
                type="radio"
                name={`${id}-scope`}
                className="size-4 accent-accent"
                checked={props.scope === choice.value}
                onChange={() => props.onScope(choice.value)}
                data-testid={`key-scope-${choice.value}`}
              />
              <span>
                {choice.label} <span className="text-ink-soft">{choice.does}</span>
              </span>
            </label>
          ))}
        </fieldset>
        <div className="space-y-1.5">
          <label htmlFor={`${id}-expires`} className="font-medium">
            Expires
          </label>
          <select
            id={`${id}-expires`}
            className="block h-8 rounded-md border border-line bg-surface px-2"
            value={props.days}
            onChange={(event) => props.onDays(Number(event.target.value))}
            data-testid="key-expires"
          >
            {lifetimes.map((choice) => (
              <option key={choice.days} value={choice.days}>
                {choice.label}
              </option>
            ))}
          </select>
        </div>
        <div className="space-y-1.5">
          <label htmlFor={`${id}-teams`} className="font-medium">
            Teams <span className="font-normal text-ink-soft">(optional)</span>
          </label>
          <Input
            id={`${id}-teams`}
            value={props.teams}
            onChange={(event) => props.onTeams(event.target.value)}
            placeholder="payments, storage"
            autoComplete="off"
            aria-describedby={`${id}-teams-hint`}
            data-testid="key-teams"
          />
          <p id={`${id}-teams-hint`} className="text-xs text-ink-soft">
            Where sessions are visible by team, the key sees those of these teams and those without a team. Empty means
            all.
          </p>
        </div>
        {problem && !nameIsWrong && <ProblemPanel error={problem} />}
        <div className="flex justify-end gap-2">
          <DialogClose asChild>
            <Button>Cancel</Button>
          </DialogClose>
          <Button type="submit" variant="primary" disabled={props.pending} data-testid="key-submit">
            Create key
          </Button>
        </div>
      </form>
    </DialogContent>
  );
}

function Secret({ name, secret }: { name: string; secret: string }) {
  return (
    <DialogContent title={`API key for ${name}`}>
      <div className="space-y-4">
        <p className="flex items-start gap-2 rounded-md bg-warn-soft px-3 py-2">
          <TriangleAlert className="mt-0.5 size-4 shrink-0 text-warn" aria-hidden />
          <span>Copy the key now. The server stores only a hash and cannot show it again.</span>
        </p>
        <p className="flex items-center gap-2 rounded-md border border-line bg-sunken px-3 py-2">
          <code className="min-w-0 flex-1 font-mono text-[13px] break-all select-all" data-testid="key-secret">
            {secret}
          </code>
          <CopyButton text={secret} label="Copy key" />
        </p>
        <div className="flex justify-end">
          <DialogClose asChild>
            <Button variant="primary">Done</Button>
          </DialogClose>
        </div>
      </div>
    </DialogContent>
  );
}
