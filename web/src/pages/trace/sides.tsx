/** A table of two sides and their differences. On a narrow screen the sides are stacked, each with its name. */
import type { ReactNode } from 'react';
import { cn } from '@/ui/cn';

export interface SideRow {
  key: string;
  name: ReactNode;
  left: ReactNode;
  right: ReactNode;
  /** The difference; empty if the sides are the same. */
  difference: string;
}

export function Sides({
  caption,
  names,
  rows,
}: {
  /** Names the table for screen readers. */
  caption: string;
  names: readonly [string, string];
  rows: readonly SideRow[];
}) {
  return (
    <table className="block w-full text-left md:table md:table-fixed">
      <caption className="sr-only">{caption}</caption>
      <thead className="sr-only md:not-sr-only md:table-header-group">
        <tr className="text-xs text-ink-soft md:border-b md:border-line">
          <th scope="col" className="px-4 py-2 font-medium md:w-40 xl:w-56">
            What
          </th>
          {names.map((name) => (
            <th key={name} scope="col" className="px-4 py-2 font-medium">
              {name}
            </th>
          ))}
          <th scope="col" className="px-4 py-2 font-medium md:w-36 xl:w-48">
            Difference
          </th>
        </tr>
      </thead>
      <tbody className="block divide-y divide-line md:table-row-group">
        {rows.map((row) => (
          <tr key={row.key} className={cn('block px-4 py-2 md:table-row', row.difference && 'bg-warn-soft/40')}>
            <th scope="row" className="block font-medium break-words md:table-cell md:px-4 md:py-2 md:align-top">
              {row.name}
            </th>
            {[row.left, row.right].map((side, n) => (
              <td
                // biome-ignore lint/suspicious/noArrayIndexKey: there are two, left and right.
                key={n}
                className="block min-w-0 py-0.5 break-words md:table-cell md:px-4 md:py-2 md:align-top"
              >
                <span className="mr-2 text-xs text-ink-soft md:hidden">{names[n]}</span>
                {side}
              </td>
            ))}
            <td className="block text-xs md:table-cell md:px-4 md:py-2 md:align-top">
              {row.difference ? (
                <span className="font-medium text-warn">{row.difference}</span>
              ) : (
                <span className="text-ink-soft">same</span>
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
