/** A table that becomes a list on a narrow screen, where each cell starts with its column's name. */
import type { ReactNode } from 'react';
import { cn } from './cn';

export interface Column<T> {
  name: string;
  cell: (row: T) => ReactNode;
  /** Right-aligned, with digits of equal width. */
  number?: boolean;
  /** The column that names the row; on a narrow screen it is the row's heading. */
  heading?: boolean;
  className?: string;
}

export function Table<T>({
  caption,
  columns,
  rows,
  rowKey,
  testId,
}: {
  /** Names the table for screen readers. */
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  rowKey: (row: T) => string;
  testId?: string;
}) {
  return (
    <table className="block w-full text-left md:table">
      <caption className="sr-only">{caption}</caption>
      <thead className="sr-only md:not-sr-only md:table-header-group">
        <tr className="md:border-b md:border-line">
          {columns.map((column) => (
            <th
              key={column.name}
              scope="col"
              className={cn('px-4 py-2 text-xs font-medium text-ink-soft', column.number && 'text-right')}
            >
              {column.name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody className="block divide-y divide-line md:table-row-group">
        {rows.map((row) => (
          <tr key={rowKey(row)} className="block px-4 py-2 md:table-row md:px-0 md:py-0" data-testid={testId}>
            {columns.map((column) => (
              <Cell key={column.name} column={column} row={row} />
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Cell<T>({ column, row }: { column: Column<T>; row: T }) {
  const className = cn(
    'flex min-w-0 items-baseline justify-between gap-3 py-0.5 md:table-cell md:px-4 md:py-2 md:align-middle',
    column.number && 'tabular-nums md:text-right',
    column.heading && 'font-medium',
    column.className,
  );
  if (column.heading) {
    return (
      <th scope="row" className={className}>
        <span className="min-w-0 break-words">{column.cell(row)}</span>
      </th>
    );
  }
  return (
    <td className={className}>
      <span className="shrink-0 text-xs text-ink-soft md:hidden">{column.name}</span>
      <span className="min-w-0 text-right break-words md:text-inherit">{column.cell(row)}</span>
    </td>
  );
}
