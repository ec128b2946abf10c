/** The visible part of a menu of pages, also shown until the menu has loaded. */
import { ChevronDown, Ellipsis } from 'lucide-react';
import type { NavigationEntry } from './navigation';
import { Waiting } from './waiting';

/** The name of the menu that has every group, if there is no space for one menu per group. */
export const moreLabel = 'More';

export function MenuFace({
  label,
  entries,
  here,
}: {
  label: string;
  entries: readonly NavigationEntry[];
  here: NavigationEntry | undefined;
}) {
  const more = label === moreLabel;
  return (
    <>
      {more && <Ellipsis aria-hidden />}
      {/* The name of the page gives way where the bar is full. */}
      <span className="truncate">{more && here ? here.label : label}</span>
      {more && here && <span className="sr-only">; more pages</span>}
      <ChevronDown aria-hidden className="size-3.5! shrink-0 max-md:hidden md:block!" />
      <Waiting entries={entries} />
    </>
  );
}
