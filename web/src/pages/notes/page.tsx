/** The Notes page: captures notes and lists them with their live status. */
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { FilterX, NotebookPen, Search, X } from 'lucide-react';
import { useRef } from 'react';
import * as notes from '@/api/notes';
import { usePageCommands } from '@/app/commands';
import { pages } from '@/app/navigation';
import { ReadOnlyNotice } from '@/app/scope';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { counted, shortId } from '@/text/format';
import { Button } from '@/ui/button';
import { Code } from '@/ui/code';
import { Continuation } from '@/ui/continuation';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { SearchBox } from '@/ui/search-box';
import { Capture } from './capture';
import { ReprocessSince } from './reprocess-since';
import { NoteRow } from './row';
import { filterOf, isFiltered, type NotesPageSearch, sources, statuses } from './search';
import { sourceLabels, statusLabels } from './status';

const route = getRouteApi('/shell/notes');

export function NotesPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: Partial<NotesPageSearch>) =>
    void navigate({ search: (last) => ({ ...last, ...part }), replace: 'q' in part, resetScroll: false });
  const clear = () => void navigate({ search: {} });
  const field = useRef<HTMLTextAreaElement>(null);
  const searchField = useRef<HTMLInputElement>(null);
  const found = useInfiniteQuery({ ...notes.notes(filterOf(search)), placeholderData: keepPreviousData });
  const rows = found.data?.pages.flatMap((page) => page.notes) ?? [];
  const total = found.data?.pages[0]?.total;
  useTitle(pages.notes.label);
  useShortcuts([
    { keys: 'c', label: 'Write a note', group: 'Notes', run: () => field.current?.focus() },
    { keys: '/', label: 'Search notes', group: 'Notes', run: () => searchField.current?.focus() },
  ]);
  usePageCommands([
    {
      id: 'capture',
      label: 'Write a note',
      keywords: ['capture', 'new'],
      icon: <NotebookPen aria-hidden />,
      run: () => field.current?.focus(),
    },
    {
      id: 'search',
      label: 'Search notes',
      icon: <Search aria-hidden />,
      run: () => searchField.current?.focus(),
    },
    ...(isFiltered(search) ? [{ id: 'clear', label: 'Clear filters', icon: <FilterX aria-hidden />, run: clear }] : []),
  ]);
  return (
    <div className="mx-auto w-full max-w-6xl space-y-3 p-3 sm:p-4">
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-lg font-semibold">{pages.notes.label}</h1>
        {total !== undefined && total > 0 && <p className="text-ink-soft tabular-nums">{counted(total, 'note')}</p>}
        {rows.length > 0 && <ReprocessSince />}
      </div>
      <ReadOnlyNotice />
      <Capture field={field} />
      <search className="flex flex-wrap items-center gap-2" aria-label="Filters">
        <SearchBox
          className="w-auto min-w-40 flex-1 md:max-w-sm"
          label="Search notes"
          shortcut="/"
          field={searchField}
          value={search.q ?? ''}
          onChange={(q) => change({ q: q.trim() === '' ? undefined : q })}
          data-testid="notes-search"
        />
        <Select
          className="w-auto max-md:flex-1"
          aria-label="Status"
          value={search.status ?? ''}
          onChange={(event) => change({ status: statuses.find((status) => status === event.target.value) })}
          data-testid="notes-status"
        >
          <option value="">Any status</option>
          {statuses.map((status) => (
            <option key={status} value={status}>
              {statusLabels[status]}
            </option>
          ))}
        </Select>
        <Select
          className="w-auto max-md:flex-1"
          aria-label="Source"
          value={search.source ?? ''}
          onChange={(event) => change({ source: sources.find((source) => source === event.target.value) })}
          data-testid="notes-source"
        >
          <option value="">Any source</option>
          {sources.map((source) => (
            <option key={source} value={source}>
              {sourceLabels[source]}
            </option>
          ))}
        </Select>
        {search.session && (
          <Button
            className="font-normal"
            aria-label="Show notes of all sessions"
            onClick={() => change({ session: undefined })}
          >
            Session {shortId(search.session)} <X aria-hidden />
          </Button>
        )}
        {isFiltered(search) && (
          <Button variant="ghost" onClick={clear} data-testid="notes-clear">
            <X aria-hidden /> Clear filters
          </Button>
        )}
      </search>
      {found.isPending ? (
        <Loading what="notes" rows={6} />
      ) : found.data === undefined ? (
        <ProblemPanel error={found.error} retry={() => void found.refetch()} />
      ) : (
        <>
          {found.isRefetchError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
          {rows.length > 0 ? (
            <ul
              aria-label="Notes"
              className="divide-y divide-line overflow-hidden rounded-lg border border-line bg-surface"
              data-testid="notes-list"
            >
              {rows.map((note) => (
                <NoteRow key={note.id} note={note} />
              ))}
            </ul>
          ) : isFiltered(search) ? (
            <EmptyState title={<h2>No notes match these filters</h2>} icon={<FilterX aria-hidden />}>
              <p>Change or clear the filters to see more notes.</p>
              <Button className="mt-3" onClick={clear}>
                Clear filters
              </Button>
            </EmptyState>
          ) : (
            <FirstNote />
          )}
          <Continuation found={found} shown={rows.length} what="notes" />
        </>
      )}
    </div>
  );
}

function FirstNote() {
  return (
    <EmptyState title={<h2>No notes yet</h2>} icon={<NotebookPen aria-hidden />}>
      <p>
        Write the first one above, keep the analysis of a{' '}
        <Link to="/" className="text-accent underline underline-offset-4">
          session
        </Link>{' '}
        as a note, or capture one from a terminal:
      </p>
      <Code className="mt-3 text-left" text={'tarsy note "Ada bounds the cache of web-1 by Friday."'} />
    </EmptyState>
  );
}
