/** The rows: kept steady while they are read, walked with the keyboard, continued at the end. */
import { ArrowUp } from 'lucide-react';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { SessionItem } from '@/api/types';
import { useShortcuts } from '@/app/shortcuts';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { useInView } from '@/ui/sight';
import { columns, SessionRow } from './row';
import { useSelection } from './selection';
import { useSteadyRows } from './steady';

export function SessionRows({ rows: fresh, answers }: { rows: readonly SessionItem[]; answers: string | undefined }) {
  const top = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const scrolled = !useInView(top, { before: true });
  const { rows, news, moved, release } = useSteadyRows(fresh, pointed || focused || scrolled, answers);
  const selection = useSelection(
    list,
    rows.map((row) => row.id),
  );
  useShortcuts([
    { keys: 'j', label: 'Next session', group: 'Session list', repeat: true, run: () => selection.move('next') },
    {
      keys: 'k',
      label: 'Previous session',
      group: 'Session list',
      repeat: true,
      run: () => selection.move('previous'),
    },
    { keys: 'o', label: 'Open session (or Enter)', group: 'Session list', run: selection.open },
  ]);
  const select = useRef(selection.select);
  useEffect(() => {
    select.current = selection.select;
  });
  const onFocus = useCallback((id: string) => select.current(id), []);

  return (
    <section aria-label="Session list" className="md:rounded-lg md:border md:border-line md:bg-surface">
      <div ref={top} />
      <div role="status" className="sticky top-2 z-10 flex justify-center">
        {(news > 0 || moved) && (
          <Button
            size="sm"
            variant="primary"
            className="absolute top-0.5 shadow-md"
            onClick={() => {
              release();
              list.current?.closest('main')?.scrollTo({ top: 0 });
            }}
            data-testid="show-changes"
          >
            <ArrowUp aria-hidden />
            {news > 0 ? `Show ${counted(news, 'new session')}` : 'Show new order'}
          </Button>
        )}
      </div>
      <Header />
      <ul
        ref={list}
        className="max-md:space-y-2 md:divide-y md:divide-line max-md:[&>li]:overflow-hidden max-md:[&>li]:rounded-lg max-md:[&>li]:border max-md:[&>li]:border-line max-md:[&>li]:bg-surface md:overflow-clip md:rounded-b-lg"
        onKeyDown={selection.onKeyDown}
        onPointerEnter={(event) => setPointed(event.pointerType === 'mouse')}
        onPointerLeave={() => setPointed(false)}
        onFocus={() => setFocused(true)}
        onBlur={(event) => setFocused(event.currentTarget.contains(event.relatedTarget))}
        data-testid="sessions-list"
      >
        {rows.map((row) => (
          <SessionRow key={row.id} row={row} tabbable={row.id === selection.id} onFocus={onFocus} />
        ))}
      </ul>
    </section>
  );
}

/** Headings for the eye. Each row says them itself to a screen reader, which meets links in a list here. */
function Header() {
  const right = 'text-right';
  return (
    <div aria-hidden className={cn('hidden border-b border-line px-4 py-2 text-xs font-medium text-ink-soft', columns)}>
      <span>Status</span>
      <span>Alert</span>
      <span className="hidden wide:block">Outcome</span>
      <span className="hidden wide:block">Chain</span>
      <span>Stages</span>
      <span className={right}>Age</span>
      <span className={right}>Duration</span>
      <span className={cn(right, 'max-lg:hidden')}>Cost</span>
      <span className={cn(right, 'max-lg:hidden')}>Tokens</span>
      <span className={cn(right, 'max-xl:hidden')}>Calls</span>
      <span className="max-xl:hidden">Author</span>
    </div>
  );
}
