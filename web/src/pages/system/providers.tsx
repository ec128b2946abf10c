import { useQuery } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import type { Provider } from '@/api/types';
import { Answer } from '@/ui/answer';
import { Badge } from '@/ui/badge';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { type Column, Table } from '@/ui/table';

const columns: readonly Column<Provider>[] = [
  {
    name: 'Provider',
    heading: true,
    cell: (provider) => (
      <>
        {provider.name} {provider.default && <span className="text-xs font-normal text-ink-soft">(default)</span>}
      </>
    ),
  },
  { name: 'Type', cell: (provider) => provider.type },
  { name: 'Model', cell: (provider) => <span className="break-all">{provider.model || '—'}</span> },
  {
    name: 'Address',
    cell: (provider) =>
      provider.base_url ? (
        <span className="font-mono text-xs break-all">{provider.base_url}</span>
      ) : (
        <span className="text-ink-soft">default</span>
      ),
  },
  { name: 'Key', cell: (provider) => <KeyState provider={provider} /> },
];

function KeyState({ provider }: { provider: Provider }) {
  if (provider.key_variable === '') return <span className="text-ink-soft">not required</span>;
  const variable = <code className="font-mono text-xs break-all">{provider.key_variable}</code>;
  if (provider.key_set) return <span className="text-ink-soft">{variable} is set</span>;
  return (
    <span className="inline-flex flex-wrap items-center justify-end gap-1.5 md:justify-start">
      <Badge tone="bad">Missing</Badge>
      {variable}
    </span>
  );
}

export function ProvidersCard() {
  const providers = useQuery(queries.providers());
  return (
    <Card aria-labelledby="system-providers">
      <CardHeader>
        <CardTitle id="system-providers">LLM providers</CardTitle>
      </CardHeader>
      <Answer query={providers} what="providers" rows={2}>
        {(data) =>
          data.providers.length === 0 ? (
            <p className="p-4 text-ink-soft">No chain uses a provider. Configure one under llm_providers.</p>
          ) : (
            <Table
              caption="LLM providers that chains use"
              columns={columns}
              rows={data.providers}
              rowKey={(provider) => provider.name}
            />
          )
        }
      </Answer>
    </Card>
  );
}
