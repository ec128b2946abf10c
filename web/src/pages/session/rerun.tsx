/** Runs a session again, unchanged or with another chain, model or tool selection. */
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { api, body } from '@/api/client';
import * as queries from '@/api/queries';
import type { RerunRequest, SessionDetail } from '@/api/types';
import { NativeTools } from '@/pages/submit/native-tools';
import { ServerList } from '@/pages/submit/server-list';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { ProblemPanel } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { Labelled } from '@/ui/labelled';
import { Dialog, DialogClose, DialogContent } from '@/ui/overlay';
import { Segmented } from '@/ui/segmented';
import { formOf, type RerunForm, requestOf, withChain } from './rerun-request';

export function RerunDialog({ session, onClose }: { session: SessionDetail; onClose: () => void }) {
  const [form, setForm] = useState(() => formOf(session));
  const change = (part: Partial<RerunForm>) => setForm((before) => ({ ...before, ...part }));
  const allowed = useQuery(queries.defaultTools('', form.chain)).data?.servers ?? [];
  const navigate = useNavigate();
  const rerun = useMutation({
    mutationFn: (request: RerunRequest) =>
      body(api.POST('/api/v1/sessions/{id}/rerun', { params: { path: { id: session.id } }, body: request })),
    onSuccess: (accepted) => {
      onClose();
      void navigate({ to: '/sessions/$sessionId', params: { sessionId: accepted.session_id } });
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const names = allowed.map(({ name }) => name);
    if (!rerun.isPending) rerun.mutate(requestOf(form, session, names));
  };
  return (
    <Dialog open onOpenChange={(shown) => !shown && onClose()}>
      <DialogContent
        title="Re-run this session"
        description="A new session investigates the same alert with the current configuration. This session does not change."
      >
        <form className="space-y-4" onSubmit={submit} data-testid="rerun-form">
          <ChainField
            value={form.chain}
            original={session.chain_id}
            onChange={(chain) => setForm((before) => withChain(before, chain, session))}
          />
          <ModelField value={form.provider} onChange={(provider) => change({ provider })} />
          <div className="space-y-2">
            <p className="font-medium">Tools</p>
            <Segmented
              label="Tools"
              value={form.tools}
              options={[
                { value: 'chain', label: 'All chain tools' },
                { value: 'own', label: 'Selected' },
              ]}
              onChange={(tools) => change({ tools })}
              data-testid="rerun-tools"
            />
            {form.tools === 'chain' ? (
              <p className="text-[13px] break-words text-ink-soft">
                {counted(allowed.length, 'MCP server')}
                {allowed.length > 0 && `: ${allowed.map(({ name }) => name).join(', ')}`}
              </p>
            ) : (
              <>
                <ServerList
                  alertType=""
                  chainId={form.chain}
                  servers={form.servers}
                  onChange={(servers) => change({ servers })}
                />
                <NativeTools
                  alertType=""
                  chainId={form.chain}
                  choices={form.native}
                  onChange={(native) => change({ native })}
                />
              </>
            )}
          </div>
          {rerun.error && <ProblemPanel error={rerun.error} focused />}
          <div className="flex justify-end gap-2">
            <DialogClose asChild>
              <Button>Back</Button>
            </DialogClose>
            <Button type="submit" variant="primary" disabled={rerun.isPending} data-testid="confirm">
              {rerun.isPending ? 'Re-run…' : 'Re-run'}
            </Button>
          </div>
        </form>
      </DialogContent>
    </Dialog>
  );
}

function ChainField({
  value,
  original,
  onChange,
}: {
  value: string;
  original: string;
  onChange: (chain: string) => void;
}) {
  const types = useQuery(queries.alertTypes());
  const chains = new Set([original, ...(types.data?.alert_types ?? []).map((type) => type.chain_id)]);
  return (
    <Labelled label="Chain" error={types.isError ? 'Could not load the other chains.' : undefined}>
      {(props) => (
        <Select {...props} value={value} onChange={(event) => onChange(event.target.value)} data-testid="rerun-chain">
          {[...chains].map((chain) => (
            <option key={chain} value={chain}>
              {chain}
              {chain === original ? ' (as before)' : ''}
            </option>
          ))}
        </Select>
      )}
    </Labelled>
  );
}

function ModelField({ value, onChange }: { value: string; onChange: (provider: string) => void }) {
  const found = useQuery(queries.rerunProviders());
  const providers = found.data?.providers ?? [];
  return (
    <Labelled
      label="Model"
      hint="A model that you choose is used by every agent, for the verdict and for the chat."
      error={found.isError ? 'Could not load the models.' : undefined}
    >
      {(props) => (
        <Select {...props} value={value} onChange={(event) => onChange(event.target.value)} data-testid="rerun-model">
          <option value="">As the chain has it</option>
          {value !== '' && !providers.some(({ name }) => name === value) && <option value={value}>{value}</option>}
          {providers.map(({ name, model }) => (
            <option key={name} value={name}>
              {name === model ? name : `${name} (${model})`}
            </option>
          ))}
        </Select>
      )}
    </Labelled>
  );
}
