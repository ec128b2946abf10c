/** Quality by chain, agent, model or alert type. */
import { Link } from '@tanstack/react-router';
import type { Quality, QualityRow } from '@/api/types';
import { outcomes, outcomeWord } from '@/text/words';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { Dollars } from '@/ui/cost';
import { type Column, Table } from '@/ui/table';
import { type Grouping, groupingWords } from './search';
import { agreementOf, ratingsOf, timeOf } from './words';

export function RowsCard({ quality, by }: { quality: Quality; by: Grouping }) {
  const title = `By ${groupingWords[by].toLowerCase()}`;
  return (
    <Card aria-label={title}>
      <CardHeader>
        <CardTitle>{title}</CardTitle>
        {(by === 'agent' || by === 'model') && (
          <span className="ml-auto text-xs text-ink-soft">a session counts in each row that took part in it</span>
        )}
      </CardHeader>
      <Table
        caption={title}
        columns={columnsOf(by, quality.from)}
        rows={quality.rows}
        rowKey={(row) => row.key}
        testId="quality-row"
      />
    </Card>
  );
}

function columnsOf(by: Grouping, after: string): readonly Column<QualityRow>[] {
  return [
    { name: groupingWords[by], heading: true, cell: (row) => <Name row={row} by={by} after={after} /> },
    ...numbers,
  ];
}

/** The columns shared by the tables of rows and days. */
export const numbers: readonly Column<QualityRow>[] = [
  { name: 'Sessions', number: true, cell: (row) => row.sessions.toLocaleString() },
  { name: 'Outcomes', className: 'md:w-1/4', cell: (row) => <Outcomes row={row} /> },
  {
    name: 'Agreement',
    number: true,
    cell: (row) => (
      <span>
        {agreementOf(row)}
        <span className="block text-xs text-ink-soft">{ratingsOf(row)}</span>
      </span>
    ),
  },
  { name: 'Time to verdict', number: true, cell: (row) => timeOf(row.time_to_verdict_p50_ms) },
  { name: '95th percentile', number: true, cell: (row) => timeOf(row.time_to_verdict_p95_ms) },
  { name: 'Cost per alert', number: true, cell: (row) => <Dollars usd={row.cost_per_alert_usd} /> },
  { name: 'Cost', number: true, cell: (row) => <Dollars usd={row.cost_usd} /> },
];

/** Only chains and alert types link to the list: it has no filter for agents and models. */
function Name({ row, by, after }: { row: QualityRow; by: Grouping; after: string }) {
  const name = row.key || '(none)';
  if (row.key === '' || by === 'agent' || by === 'model') return <span className="break-all">{name}</span>;
  return (
    <Link
      to="/"
      search={{ [by === 'chain' ? 'chain_id' : 'alert_type']: row.key, after }}
      className="break-all text-accent underline-offset-2 hover:underline"
    >
      {name}
    </Link>
  );
}

function Outcomes({ row }: { row: QualityRow }) {
  const told = outcomes.filter((outcome) => (row.outcomes[outcome] ?? 0) > 0);
  if (told.length === 0) return <span className="text-ink-soft">none</span>;
  return (
    <span className="text-ink-soft">
      {told.map((outcome) => `${row.outcomes[outcome]} ${outcomeWord(outcome).toLowerCase()}`).join(', ')}
    </span>
  );
}
