/** The rows of the list: stable while they are read, navigable by keyboard, with more loaded at the end. */
import { ArrowUp } from 'lucide-react';
import { lazy, Suspense, useCallback, useMemo, useRef, useState } from 'react';
import type { SessionItem } from '@/api/types';
import { explainMissing } from '@/app/failure';
import { useScope } from '@/app/scope';
import { useShortcuts } from '@/app/shortcuts';
import { counted } from '@/text/format';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { useInView } from '@/ui/sight';
import { type ColumnName, columns, tracksOf, useColumns } from './columns';
import { rowGrid, SessionRow } from './row';
import { useRows } from './rows';
import { useSelection } from './selection';
import { useSteadyRows } from './steady';

// The bar and its dialogs are loaded after the list.
const BulkBar = lazy(() => import('./bulk').then((bulk) => ({ default: bulk.BulkBar }), explainMissing));

export function SessionRows({ rows: fresh, answers }: { rows: readonly SessionItem[]; answers: string | undefined }) {
  const top = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const [pointed, setPointed] = useState(false);
  const [focused, setFocused] = useState(false);
  const scrolled = !useInView(top, { before: true });
  const { rows, news, moved, release } = useSteadyRows(fresh, pointed || focused || scrolled, answers);
  const ids = useMemo(() => rows.map((row) => row.id), [rows]);
  const selection = useSelection(list, ids, (index) => virtual.scrollToIndex(index, { align: 'auto' }));
  const { virtual, margin } = useRows(list, ids, selection.id);
  const [unfolded, toggle] = useUnfolded();
  const chosen = useColumns();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const change = useCallback((id: string, on: boolean) => setSelected((last) => withMember(last, id, on)), []);
  const select = useScope('write') ? change : undefined;
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
    {
      keys: 'x',
      label: 'Select session for an action on several',
      group: 'Session list',
      run: () => select?.(selection.id, !selected.has(selection.id)),
    },
  ]);
  return (
    <section
      aria-label="Session list"
      className="md:rounded-lg md:border md:border-line md:bg-surface"
      style={tracksOf(chosen)}
    >
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
      <Header chosen={chosen} selectable={select !== undefined} />
      <ul
        ref={list}
        className="relative md:overflow-clip md:rounded-b-lg"
        style={{ height: virtual.getTotalSize() }}
        onKeyDown={selection.onKeyDown}
        onPointerEnter={(event) => setPointed(event.pointerType === 'mouse')}
        onPointerLeave={() => setPointed(false)}
        onFocus={(event) => {
          setFocused(true);
          // A row stays mounted while it has the focus, including the alerts of its storm.
          const id = event.target.closest<HTMLElement>('[data-row]')?.dataset.row;
          if (id !== undefined) selection.select(id);
        }}
        onBlur={(event) => setFocused(event.currentTarget.contains(event.relatedTarget))}
        data-testid="sessions-list"
      >
        {virtual.getVirtualItems().map(({ index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          return (
            <li
              key={row.id}
              ref={virtual.measureElement}
              data-index={index}
              data-row={row.id}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              className="absolute inset-x-0 top-0 border-line max-md:overflow-hidden max-md:rounded-lg max-md:border max-md:bg-surface md:not-last:border-b"
              style={{ transform: `translateY(${start - margin}px)` }}
            >
              <SessionRow
                row={row}
                columns={chosen}
                tabbable={row.id === selection.id}
                selected={selected.has(row.id)}
                onSelect={select}
                open={unfolded.has(row.id)}
                onToggle={toggle}
              />
            </li>
          );
        })}
      </ul>
      {rows.some(({ id }) => selected.has(id)) && (
        <Suspense>
          <BulkBar rows={rows.filter(({ id }) => selected.has(id))} clear={() => setSelected(new Set())} />
        </Suspense>
      )}
    </section>
  );
}

function withMember(set: ReadonlySet<string>, id: string, member: boolean): ReadonlySet<string> {
  const next = new Set(set);
  if (member) next.add(id);
  else next.delete(id);
  return next;
}

/** The storms whose alerts are shown. */
function useUnfolded(): [ReadonlySet<string>, (id: string) => void] {
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>(new Set());
  const toggle = useCallback((id: string) => setUnfolded((last) => withMember(last, id, !last.has(id))), []);
  return [unfolded, toggle];
}

/** Visible headings only: to screen readers the list is a list of links, and each row names its own fields. */
function Header({ chosen, selectable }: { chosen: readonly ColumnName[]; selectable: boolean }) {
  return (
    <div
      aria-hidden
      className={cn(
        'hidden border-b border-line px-4 py-1.5 text-xs font-medium text-ink-soft',
        selectable && 'pl-9',
        rowGrid,
      )}
    >
      <span>Status</span>
      <span>Alert</span>
      <span className="max-xl:hidden">Cause</span>
      {chosen.map((name) => (
        <span key={name} className={cn(columns[name].right && 'text-right')}>
          {columns[name].label}
        </span>
      ))}
      <span className="text-right">Age</span>
    </div>
  );
}
