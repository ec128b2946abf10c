/** Long texts in cards, collapsed until expanded. */
import { ChevronDown, ChevronRight } from 'lucide-react';
import { type ReactNode, useId, useState } from 'react';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';

/** A section with a heading that expands and collapses it. Collapsed content is not rendered. */
export function Section({
  title,
  open: initiallyOpen,
  extra,
  children,
}: {
  title: string;
  /** Whether it is open initially. */
  open: boolean;
  extra?: ReactNode;
  children: ReactNode;
}) {
  const [chosen, setChosen] = useState<boolean>();
  const open = chosen ?? initiallyOpen;
  const id = useId();
  return (
    <div className="border-t border-line first:border-t-0">
      <div className="flex min-h-10 items-center gap-1 px-2">
        <h3 className="min-w-0 flex-1">
          <button
            type="button"
            aria-expanded={open}
            aria-controls={open ? id : undefined}
            onClick={() => setChosen(!open)}
            className="flex h-8 w-full items-center gap-1.5 rounded-md px-2 text-left text-[13px] font-medium text-ink-soft hover:bg-sunken hover:text-ink"
          >
            {open ? <ChevronDown className="size-4" aria-hidden /> : <ChevronRight className="size-4" aria-hidden />}
            {title}
          </button>
        </h3>
        {extra}
      </div>
      {open && (
        <div id={id} className="px-4 pb-4">
          {children}
        </div>
      )}
    </div>
  );
}

/** Shows the beginning of long content, with a button for the rest. */
export function Shortened({ long, children }: { long: boolean; children: ReactNode }) {
  const [all, setAll] = useState(false);
  const open = all || !long;
  return (
    <div>
      <div
        className={cn(!open && 'relative max-h-[36em] overflow-hidden')}
        // Expands on keyboard focus, because the focused element must be visible. A click target is visible already and
        // must not move.
        onFocusCapture={(event) => {
          if (!open && event.target.matches(':focus-visible')) setAll(true);
        }}
      >
        {children}
        {!open && (
          <div
            className="pointer-events-none absolute inset-x-0 bottom-0 h-16 bg-linear-to-t from-surface to-transparent"
            aria-hidden
          />
        )}
      </div>
      {long && (
        <Button variant="link" size="sm" className="mt-1 px-0" onClick={() => setAll(!open)}>
          {open ? 'Show less' : 'Show all'}
        </Button>
      )}
    </div>
  );
}

/** Reports whether a text takes more than about `lines` lines of a card. */
export function isLong(text: string, lines = 24): boolean {
  const width = 90;
  let room = lines;
  for (let at = 0; at < text.length && room > 0; ) {
    const end = text.indexOf('\n', at);
    const length = (end < 0 ? text.length : end) - at;
    room -= Math.max(1, Math.ceil(length / width));
    at += length + 1;
  }
  return room <= 0;
}
