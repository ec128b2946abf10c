import type { UsageSummary } from '@/api/types';
import { percent, tokens } from '@/text/format';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { Cost } from '@/ui/cost';
import { type Column, Table } from '@/ui/table';
import { shares } from './share';

type Row = UsageSummary['by_model'][number];
type SharedRow = Row & { part: number };

const columns: readonly Column<SharedRow>[] = [
  {
    name: 'Name',
    heading: true,
    className: 'md:w-1/2',
    cell: (row) => (
      <span className="block">
        <span className="break-all">{row.name || '(none)'}</span>
        <span className="mt-1 block h-1.5 w-full min-w-24 overflow-hidden rounded-full bg-idle-soft" aria-hidden>
          <span className="block h-full rounded-full bg-accent" style={{ width: `${row.part * 100}%` }} />
        </span>
      </span>
    ),
  },
  { name: 'Share', number: true, cell: (row) => percent(row.part) },
  { name: 'Cost', number: true, cell: (row) => <Cost usage={row.usage} /> },
  { name: 'Tokens', number: true, cell: (row) => tokens(row.usage.total_tokens) },
  { name: 'Calls', number: true, cell: (row) => row.llm_calls.toLocaleString() },
];

/** The share of each row in the total usage. */
export function Breakdown({ title, rows }: { title: string; rows: readonly Row[] }) {
  const { of, parts } = shares(rows);
  return (
    <Card aria-label={title}>
      <CardHeader>
        <CardTitle>{title}</CardTitle>
        <span className="ml-auto text-xs text-ink-soft">share of {of}</span>
      </CardHeader>
      {rows.length === 0 ? (
        <p className="p-4 text-ink-soft">No usage yet.</p>
      ) : (
        <Table
          caption={title}
          columns={columns}
          rows={rows.map((row, index) => ({ ...row, part: parts[index] ?? 0 }))}
          rowKey={(row) => row.name}
        />
      )}
    </Card>
  );
}
