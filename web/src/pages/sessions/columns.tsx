/** The columns that people add to the list. The choice is stored in this browser, one entry per column. */
import { type ReactNode, useMemo, useSyncExternalStore } from 'react';
import type { SessionItem } from '@/api/types';
import { duration, elapsed, tokens } from '@/text/format';
import { Cost } from '@/ui/cost';
import { Steps } from '@/ui/progress';
import { Stored } from '@/ui/stored';
import { Running } from '@/ui/time';
import { progressOf } from './progress';

interface Column {
  label: string;
  /** Of the track in the grid. */
  width: string;
  /** Aligned like a number. */
  right?: boolean;
  cell: (row: SessionItem) => ReactNode;
}

const known = {
  stages: { label: 'Stages', width: '6rem', cell: (row) => <Steps {...progressOf(row)} /> },
  duration: { label: 'Duration', width: '5rem', right: true, cell: durationOf },
  cost: { label: 'Cost', width: '4.5rem', right: true, cell: (row) => <Cost usage={row.usage} /> },
  tokens: { label: 'Tokens', width: '4rem', right: true, cell: (row) => tokens(row.usage.total_tokens) },
  calls: { label: 'Tool calls', width: '5rem', right: true, cell: (row) => row.tool_calls },
  author: { label: 'Author', width: '8rem', cell: (row) => row.author || <Nothing /> },
  chain: { label: 'Chain', width: '10rem', cell: (row) => row.chain_id },
} satisfies Record<string, Column>;

export type ColumnName = keyof typeof known;
export const columns: Readonly<Record<ColumnName, Column>> = known;
export const columnNames = Object.keys(known) as readonly ColumnName[];

const stored = Object.fromEntries(
  columnNames.map((name) => [name, new Stored(`tarsy.column.${name}`, ['hidden', 'shown'])]),
) as Record<ColumnName, Stored<'hidden' | 'shown'>>;

export function showColumn(name: ColumnName, shown: boolean): void {
  stored[name].set(shown ? 'shown' : 'hidden');
}

const read = () => columnNames.filter((name) => stored[name].get() === 'shown').join();

function subscribe(listener: () => void): () => void {
  const stops = columnNames.map((name) => stored[name].subscribe(listener));
  return () => {
    for (const stop of stops) stop();
  };
}

/** Returns the chosen columns in order. The list keeps its identity until the choice changes. */
export function useColumns(): readonly ColumnName[] {
  const names = useSyncExternalStore(subscribe, read, read);
  return useMemo(() => columnNames.filter((name) => names.split(',').includes(name)), [names]);
}

/** Returns the tracks of the chosen columns, for the grids of the header and the rows. */
export function tracksOf(names: readonly ColumnName[]): Record<string, string> {
  return { '--chosen': names.map((name) => columns[name].width).join(' ') };
}

function durationOf(row: SessionItem): ReactNode {
  if (row.started_at === null) return <Nothing />;
  if (row.status === 'in_progress' || row.status === 'cancelling') return <Running since={row.started_at} />;
  return duration(elapsed(row.started_at, row.completed_at, new Date(row.completed_at ?? row.started_at)));
}

function Nothing() {
  return (
    <>
      <span aria-hidden className="text-ink-faint">
        –
      </span>
      <span className="sr-only">none yet</span>
    </>
  );
}
