/** The pages of the navigation, in order. The bar, the palette and the keyboard shortcuts all read this table. */
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
import { cn } from '@/ui/cn';

interface NavigationEntry {
  to: '/' | '/alerts' | '/notes' | '/review' | '/board' | '/submit' | '/quality' | '/system';
  label: string;
  icon: LucideIcon;
  /** The key that follows g. */
  key: string;
  /** Prefixes of other addresses that belong to it. */
  also?: string[];
  /** Folded into "More" on a narrow screen. */
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

/** Returns the entry that an address belongs to. */
export function entryOf(pathname: string): NavigationEntry | undefined {
  return navigation.find(
    (entry) =>
      pathname === entry.to ||
      (entry.to !== '/' && pathname.startsWith(`${entry.to}/`)) ||
      entry.also?.some((prefix) => pathname.startsWith(prefix)),
  );
}

/** The style of an entry in the bar; on a narrow screen the bar is at the bottom. */
export const entryLook = cn(
  'relative flex items-center justify-center gap-1.5 border-transparent text-sm font-medium text-ink-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink [&_svg]:size-4',
  'max-md:min-w-0 max-md:flex-1 max-md:flex-col max-md:gap-0.5 max-md:border-t-2 max-md:text-xs md:border-b-2 md:px-2 md:pt-0.5 md:max-2xl:[&_svg]:hidden',
);
