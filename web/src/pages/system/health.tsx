import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import * as queries from '@/api/queries';
import type { Health, Warning } from '@/api/types';
import { useSessionsFeed } from '@/live/hooks';
import { Answer } from '@/ui/answer';
import { Badge } from '@/ui/badge';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { CopyButton } from '@/ui/copy';
import { Loading } from '@/ui/feedback';
import { Ago } from '@/ui/time';
import { PausesCard } from './pauses';
import { ProvidersCard } from './providers';
import { SessionsCard } from './sessions';

export function HealthTab() {
  const health = useQuery(queries.health());
  const client = useQueryClient();
  useSessionsFeed(() => {
    void client.invalidateQueries({ queryKey: queries.activeSessions().queryKey });
    void client.invalidateQueries({ queryKey: queries.health().queryKey });
  });
  return (
    <div className="grid items-start gap-4 xl:grid-cols-2">
      <div className="grid min-w-0 gap-4">
        <Card aria-labelledby="system-server">
          <CardHeader>
            <CardTitle id="system-server">Server</CardTitle>
            {health.data && !health.isError && <Overall status={health.data.status} />}
          </CardHeader>
          <Answer query={health} what="the server's health">
            {(data) => <Facts health={data} />}
          </Answer>
        </Card>
        <Card aria-labelledby="system-warnings">
          <CardHeader>
            <CardTitle id="system-warnings">Warnings</CardTitle>
            {health.data && health.data.warnings.length > 0 && <Badge tone="warn">{health.data.warnings.length}</Badge>}
          </CardHeader>
          {health.data ? (
            <Warnings warnings={health.data.warnings} />
          ) : health.isError ? (
            <p className="p-4 text-ink-soft">Unknown until the server responds.</p>
          ) : (
            <Loading what="warnings" rows={2} />
          )}
        </Card>
        <PausesCard />
      </div>
      <div className="grid min-w-0 gap-4">
        <SessionsCard />
        <ProvidersCard />
      </div>
    </div>
  );
}

function Overall({ status }: { status: Health['status'] }) {
  return status === 'healthy' ? <Badge tone="good">Healthy</Badge> : <Badge tone="warn">Degraded</Badge>;
}

function Facts({ health }: { health: Health }) {
  return (
    <CardBody>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-6 gap-y-2">
        <Fact name="Version">{health.version}</Fact>
        <Fact name="Server ID">
          <span className="inline-flex items-center gap-1">
            <span className="font-mono text-xs break-all">{health.server_id}</span>
            <CopyButton text={health.server_id} label="Copy server ID" />
          </span>
        </Fact>
        <Fact name="Database">{health.database === 'ok' ? 'OK' : health.database}</Fact>
        <Fact name="Queued">{health.queue.waiting}</Fact>
        <Fact name="Running">{health.queue.leased}</Fact>
      </dl>
      <p className="mt-3 text-xs text-ink-soft">Counts cover all servers on this database.</p>
    </CardBody>
  );
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="self-center text-ink-soft">{name}</dt>
      <dd className="min-w-0 self-center break-words tabular-nums">{children}</dd>
    </>
  );
}

function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  if (warnings.length === 0) return <p className="p-4 text-ink-soft">No warnings.</p>;
  return (
    <ul className="divide-y divide-line" data-testid="system-warnings">
      {warnings.map((warning) => (
        <li key={warning.id} className="px-4 py-3">
          <p className="flex items-baseline gap-2">
            <span className="min-w-0 flex-1 font-medium break-words">{warning.message}</span>
            <Ago at={warning.created_at} className="shrink-0 text-xs text-ink-soft" />
          </p>
          {warning.details && <p className="mt-0.5 break-words whitespace-pre-wrap text-ink-soft">{warning.details}</p>}
          <p className="mt-0.5 font-mono text-xs text-ink-soft">{warning.category}</p>
        </li>
      ))}
    </ul>
  );
}
