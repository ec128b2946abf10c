/** The saved views of the list. Each is an address. */
import type { SessionsPageSearch } from './search';

export const views: readonly { label: string; filter: SessionsPageSearch }[] = [
  { label: 'Mine', filter: { handling: ['open', 'acknowledged'], assignee: 'me' } },
  { label: 'Open critical', filter: { severity: 'critical', handling: ['open'] } },
  { label: 'Needs a person', filter: { outcome: ['needs_human'], handling: ['open', 'acknowledged'] } },
  { label: 'This week', filter: { range: '7d' } },
];

/** Reports whether an address shows exactly a view, in any order of its rows. */
export function isView({ order: _, ...search }: SessionsPageSearch, filter: SessionsPageSearch): boolean {
  const text = (value: SessionsPageSearch) =>
    Object.entries(value)
      .filter(([, part]) => part !== undefined)
      .map(([key, part]) => `${key}=${part}`)
      .sort()
      .join('&');
  return text(search) === text(filter);
}
