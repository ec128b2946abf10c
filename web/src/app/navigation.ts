/** The pages of the navigation, in order. The bar, the palette, the keyboard shortcuts and page titles read this table. */
import {
  BellOff,
  ChartColumn,
  Gauge,
  HeartPulse,
  Hourglass,
  Inbox,
  KeyRound,
  ListTree,
  type LucideIcon,
  NotebookPen,
  Scale,
  ScrollText,
  Send,
  Settings2,
  SquareKanban,
  Wrench,
} from 'lucide-react';
import { cn } from '@/ui/cn';

/** A group is a menu of the bar. */
export const groups = ['Work', 'Insights', 'System'] as const;
type Group = (typeof groups)[number];

export interface NavigationEntry {
  to:
    | '/'
    | '/approvals'
    | '/alerts'
    | '/notes'
    | '/review'
    | '/board'
    | '/submit'
    | '/quality'
    | '/system'
    | '/system/audit';
  /** What the page's address has in addition; the other entries of the same path lack it. */
  search?: Readonly<Record<string, string>>;
  label: string;
  icon: LucideIcon;
  /** The key that follows g. */
  key: string;
  /** Prefixes of other addresses that belong to it. */
  also?: string[];
  group?: Group;
  /** Not in the bar: another page has a button for it. */
  unlisted?: boolean;
}

export const pages = {
  sessions: { to: '/', label: 'Sessions', icon: ListTree, key: 's', also: ['/sessions/'] },
  approvals: { to: '/approvals', label: 'Approvals', icon: Hourglass, key: 'p' },
  alerts: { to: '/alerts', label: 'Not investigated', icon: BellOff, key: 'a' },
  notes: { to: '/notes', label: 'Notes', icon: NotebookPen, key: 't', group: 'Work' },
  review: { to: '/review', label: 'Review', icon: Scale, key: 'r', group: 'Work' },
  board: { to: '/board', label: 'Board', icon: SquareKanban, key: 'b', group: 'Work' },
  quality: { to: '/quality', label: 'Quality', icon: Gauge, key: 'q', group: 'Insights' },
  usage: { to: '/system', search: { tab: 'usage' }, label: 'Usage', icon: ChartColumn, key: 'u', group: 'Insights' },
  health: { to: '/system', label: 'Health', icon: HeartPulse, key: 'y', group: 'System' },
  jobs: { to: '/system', search: { tab: 'jobs' }, label: 'Jobs', icon: Inbox, key: 'j', group: 'System' },
  tools: { to: '/system', search: { tab: 'tools' }, label: 'Tools', icon: Wrench, key: 'o', group: 'System' },
  config: {
    to: '/system',
    search: { tab: 'config' },
    label: 'Configuration',
    icon: Settings2,
    key: 'c',
    group: 'System',
  },
  keys: { to: '/system', search: { tab: 'keys' }, label: 'Keys', icon: KeyRound, key: 'k', group: 'System' },
  audit: { to: '/system/audit', label: 'Audit', icon: ScrollText, key: 'i', group: 'System' },
  submit: { to: '/submit', label: 'Submit alert', icon: Send, key: 'n', unlisted: true },
} as const satisfies Record<string, NavigationEntry>;

export const navigation: readonly NavigationEntry[] = Object.values(pages);

/** Returns the name of a page outside its menu. */
export function nameOf({ group, label }: NavigationEntry): string {
  return group === undefined ? label : `${group}: ${label}`;
}

/** Returns the entry that an address belongs to. */
export function entryOf(pathname: string, search: Readonly<Record<string, unknown>>): NavigationEntry | undefined {
  const matching = navigation.filter(
    (entry) =>
      pathname === entry.to ||
      (entry.to !== '/' && pathname.startsWith(`${entry.to}/`)) ||
      entry.also?.some((prefix) => pathname.startsWith(prefix)),
  );
  const longest = Math.max(...matching.map((entry) => entry.to.length));
  const entries = matching.filter((entry) => entry.to.length === longest);
  return (
    entries.find(
      (entry) => entry.search && Object.entries(entry.search).every(([name, value]) => search[name] === value),
    ) ?? entries.find((entry) => entry.search === undefined)
  );
}

/** The style of an entry in the bar; on a narrow screen the bar is at the bottom. */
export const entryLook = cn(
  'relative flex items-center justify-center gap-1.5 border-transparent text-sm font-medium whitespace-nowrap text-ink-soft hover:text-ink aria-[current=page]:border-accent aria-[current=page]:text-ink [&_svg]:size-4',
  'max-md:min-w-0 max-md:flex-auto max-md:flex-col max-md:gap-0.5 max-md:border-t-2 max-md:px-0.5 max-md:text-xs md:border-b-2 md:px-2 md:pt-0.5 md:max-2xl:[&_svg]:hidden',
);
