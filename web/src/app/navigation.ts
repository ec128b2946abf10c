/** The pages that the navigation leads to, in their order: the bar, the palette and the keyboard all read this table. */
import {
  Activity,
  BellOff,
  Gauge,
  ListTree,
  type LucideIcon,
  NotebookPen,
  Scale,
  Send,
  SquareKanban,
} from 'lucide-react';

interface NavigationEntry {
  to: '/' | '/alerts' | '/notes' | '/review' | '/board' | '/submit' | '/quality' | '/system';
  label: string;
  icon: LucideIcon;
  /** The key that follows g. */
  key: string;
  /** Beginnings of other addresses that belong to it. */
  also?: string[];
  /** Behind "More" where there is no room for all. */
  more?: boolean;
}

export const navigation: readonly NavigationEntry[] = [
  { to: '/', label: 'Sessions', icon: ListTree, key: 's', also: ['/sessions/'] },
  { to: '/alerts', label: 'Alerts', icon: BellOff, key: 'a' },
  { to: '/notes', label: 'Notes', icon: NotebookPen, key: 't', more: true },
  { to: '/review', label: 'Review', icon: Scale, key: 'r' },
  { to: '/board', label: 'Board', icon: SquareKanban, key: 'b', more: true },
  { to: '/submit', label: 'Submit', icon: Send, key: 'n' },
  { to: '/quality', label: 'Quality', icon: Gauge, key: 'q', more: true },
  { to: '/system', label: 'System', icon: Activity, key: 'y', more: true },
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
