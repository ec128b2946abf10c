/** The pages that the navigation leads to, in their order: the bar, the palette and the keyboard all read this table. */
import { Activity, BellOff, ListTree, type LucideIcon, NotebookPen, Scale, Send, SquareKanban } from 'lucide-react';

interface NavigationEntry {
  to: '/' | '/alerts' | '/notes' | '/review' | '/board' | '/submit' | '/system';
  label: string;
  icon: LucideIcon;
  /** The key that follows g. */
  key: string;
  /** Beginnings of other addresses that belong to it. */
  also?: string[];
}

export const navigation: readonly NavigationEntry[] = [
  { to: '/', label: 'Sessions', icon: ListTree, key: 's', also: ['/sessions/'] },
  { to: '/alerts', label: 'Alerts', icon: BellOff, key: 'a' },
  { to: '/notes', label: 'Notes', icon: NotebookPen, key: 't' },
  { to: '/review', label: 'Review', icon: Scale, key: 'r' },
  { to: '/board', label: 'Board', icon: SquareKanban, key: 'b' },
  { to: '/submit', label: 'Submit', icon: Send, key: 'n' },
  { to: '/system', label: 'System', icon: Activity, key: 'y' },
];

/** The entry that an address belongs to. */
export function entryOf(pathname: string): NavigationEntry | undefined {
  return navigation.find(
    (entry) =>
      pathname === entry.to ||
      (entry.to !== '/' && pathname.startsWith(`${entry.to}/`)) ||
      entry.also?.some((prefix) => pathname.startsWith(prefix)),
  );
}
