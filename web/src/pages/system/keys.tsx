import { useQuery } from '@tanstack/react-query';
import { KeyRound, Plus } from 'lucide-react';
import { useState } from 'react';
import * as queries from '@/api/queries';
import type { APIKey } from '@/api/types';
import { dateTime } from '@/text/format';
import { useZone } from '@/text/zone';
import { Answer } from '@/ui/answer';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { EmptyState } from '@/ui/feedback';
import { Dialog, DialogTrigger } from '@/ui/overlay';
import { type Column, Table } from '@/ui/table';
import { Ago, DateTime } from '@/ui/time';
import { CreateKey } from './create-key';
import { RevokeKey } from './revoke-key';

export function KeysTab() {
  const keys = useQuery(queries.apiKeys());
  const { data: who } = useQuery(queries.me());
  const [making, setMaking] = useState(false);
  return (
    <div className="space-y-4">
      {who && !who.auth_required && <NotRequired />}
      <Card aria-labelledby="system-keys">
        <CardHeader>
          <CardTitle id="system-keys">API keys</CardTitle>
          {keys.data && (
            <Dialog open={making} onOpenChange={setMaking}>
              <DialogTrigger asChild>
                <Button size="sm" variant="primary" className="ml-auto" data-testid="key-create">
                  <Plus aria-hidden /> Create key
                </Button>
              </DialogTrigger>
              {making && <CreateKey />}
            </Dialog>
          )}
        </CardHeader>
        <Answer query={keys} what="API keys">
          {(data) => (data.keys.length === 0 ? <NoKeys /> : <KeyTable keys={data.keys} />)}
        </Answer>
      </Card>
    </div>
  );
}

function NotRequired() {
  return (
    <p
      className="max-w-prose rounded-md border border-line bg-surface px-3 py-2 text-ink-soft"
      data-testid="keys-not-required"
    >
      This server listens on loopback only and does not require API keys. To require them, start it with{' '}
      <code className="font-mono text-xs">--auth on</code> (or <code className="font-mono text-xs">TARSY_AUTH=on</code>
      ). On any other address keys are always required. See docs/cli.md.
    </p>
  );
}

function NoKeys() {
  return (
    <EmptyState title="No keys yet" icon={<KeyRound />}>
      Create a key to give a program or a person access to this server.
    </EmptyState>
  );
}

function isOver(key: APIKey): boolean {
  return Boolean(key.expires_at) && Date.parse(key.expires_at ?? '') <= Date.now();
}

function KeyTable({ keys }: { keys: readonly APIKey[] }) {
  const [revoking, setRevoking] = useState<APIKey | null>(null);
  const zone = useZone();
  const columns: readonly Column<APIKey>[] = [
    { name: 'Name', heading: true, cell: (key) => key.name },
    { name: 'Prefix', cell: (key) => <code className="font-mono text-xs">{key.prefix}</code> },
    { name: 'Scopes', cell: (key) => key.scopes.join(', ') },
    { name: 'Teams', cell: (key) => key.teams.join(', ') || 'All' },
    { name: 'Created', cell: (key) => <Ago at={key.created_at} /> },
    {
      name: 'Last used',
      cell: (key) => (key.last_used_at ? <Ago at={key.last_used_at} /> : <span className="text-ink-soft">never</span>),
    },
    {
      name: 'Expires',
      cell: (key) => (key.expires_at ? <DateTime at={key.expires_at} /> : <span className="text-ink-soft">never</span>),
    },
    {
      name: 'State',
      cell: (key) =>
        key.revoked_at ? (
          <span title={dateTime(key.revoked_at, zone)}>
            <Badge tone="idle">Revoked</Badge>
          </span>
        ) : isOver(key) ? (
          <Badge tone="idle">Expired</Badge>
        ) : (
          <Button
            size="sm"
            variant="danger"
            aria-label={`Revoke ${key.name} (${key.prefix})`}
            onClick={() => setRevoking(key)}
            data-testid="key-revoke"
          >
            Revoke
          </Button>
        ),
    },
  ];
  return (
    <>
      <Table caption="API keys" columns={columns} rows={keys} rowKey={(key) => key.id} testId="key" />
      <RevokeKey of={revoking} onClose={() => setRevoking(null)} />
    </>
  );
}
