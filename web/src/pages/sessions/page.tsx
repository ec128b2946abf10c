/** The live list of sessions. */
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { ArrowDownWideNarrow, FilterX, Hourglass, ListFilter, Search, Send, UserRound } from 'lucide-react';
import { type ReactNode, useCallback, useMemo, useRef, useState } from 'react';
import { severities } from '@/alert/severities';
import { severityLabel } from '@/alert/severity';
import { asProblem } from '@/api/problem';
import * as queries from '@/api/queries';
import { isOver } from '@/api/status';
import { usePageCommands } from '@/app/commands';
import { pages } from '@/app/navigation';
import { useShortcuts } from '@/app/shortcuts';
import { useTitle } from '@/app/title';
import { handlingStates, handlingWord, me } from '@/handling/words';
import { counted } from '@/text/format';
import { outcomes, outcomeWord } from '@/text/words';
import { Button } from '@/ui/button';
import { Continuation } from '@/ui/continuation';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { statusLabel } from '@/ui/status';
import { ClockTime } from '@/ui/time';
import { CancelMatching } from './cancel-matching';
import { ColumnChooser } from './column-chooser';
import { type Change, Filters } from './filters';
import { FirstVisit } from './first-visit';
import { SessionRows } from './list';
import { useLiveList } from './live';
import { filterOf, isFiltered, type Range, rangeWords, type SessionsPageSearch, statuses } from './search';
import { rowsOf } from './steady';

export function SessionsPage() {
  const search = useSearch({ from: '/shell/' });
  const { change, clear } = useFilterChange();
  const searchField = useRef<HTMLInputElement>(null);
  useListCommands(search, change, clear, () => searchField.current?.focus());
  const now = useNow(60_000);
  const found = useInfiniteQuery({ ...queries.sessions(filterOf(search, now)), placeholderData: keepPreviousData });
  const key = found.isPlaceholderData ? undefined : JSON.stringify(search);
  const { data, at } = useLastAnswer(found.data, found.dataUpdatedAt, key);
  const rows = useMemo(() => rowsOf(data?.pages ?? []), [data]);
  useLiveList(found.data?.pages.length ?? 1);
  if (data !== undefined && rows.length === 0 && !isFiltered(search) && key !== undefined) {
    return (
      <Page>
        <FirstVisit />
      </Page>
    );
  }
  return (
    <Page
      action={
        (isFiltered(search) || rows.some(({ status }) => !isOver(status))) && (
          <CancelMatching filter={filterOf(search, now)} filtered={isFiltered(search)} />
        )
      }
    >
      <Filters search={search} change={change} clear={clear} searchField={searchField} />
      {found.isPending ? (
        <Loading what="the sessions" rows={8} />
      ) : data === undefined ? (
        <ProblemPanel error={found.error} retry={() => void found.refetch()} />
      ) : (
        <>
          {found.isError && !found.isFetchNextPageError && (
            <Stale error={found.error} at={at} retry={() => void found.refetch()} />
          )}
          {search.search !== undefined && key !== undefined && rows.length > 0 && (
            <Matches count={rows.length} more={found.hasNextPage} />
          )}
          {rows.length > 0 ? <SessionRows rows={rows} answers={key} /> : <NothingMatches clear={clear} />}
          <Continuation found={found} shown={rows.length} what="sessions" />
        </>
      )}
    </Page>
  );
}

/**
 * Returns the response, or the previous one if the request failed: "the last hour" is a new query every minute, and its
 * rows must not vanish when one of these requests fails.
 */
function useLastAnswer<T>(
  data: T | undefined,
  at: number,
  key: string | undefined,
): { data: T | undefined; at: number } {
  const [last, setLast] = useState({ data, at, key });
  if (data !== undefined) {
    if (key !== undefined && (data !== last.data || at !== last.at || key !== last.key)) setLast({ data, at, key });
    return { data, at };
  }
  return key === last.key ? last : { data, at };
}

/** `action` comes and goes beside the title, where it moves no row. */
function Page({ action, children }: { action?: ReactNode; children: ReactNode }) {
  return (
    <div className="mx-auto w-full max-w-[150rem] space-y-3 p-3 sm:p-4">
      <div className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1">
        <h1 className="text-lg font-semibold">{pages.sessions.label}</h1>
        <Activity />
        <div className="ml-auto flex items-center gap-2">
          {action}
          <ColumnChooser />
          <Button asChild size="sm" className="max-md:h-11">
            <Link to="/submit">
              <Send aria-hidden /> Submit alert
            </Link>
          </Button>
        </div>
      </div>
      {children}
    </div>
  );
}

/** Changes the address; typing in the search field adds no history entries. */
function useFilterChange(): { change: Change; clear: () => void } {
  const navigate = useNavigate({ from: '/' });
  const change = useCallback<Change>(
    (part) =>
      void navigate({ search: (last) => ({ ...last, ...part }), replace: 'search' in part, resetScroll: false }),
    [navigate],
  );
  const clear = useCallback(
    () => void navigate({ search: (last: SessionsPageSearch) => ({ order: last.order }) }),
    [navigate],
  );
  return { change, clear };
}

/** Shortcuts and palette commands of the page, besides the keys of the list itself. */
function useListCommands(search: SessionsPageSearch, change: Change, clear: () => void, focusSearch: () => void): void {
  useShortcuts([{ keys: '/', label: 'Search', group: 'Session list', run: focusSearch }]);
  const newest = search.order === 'newest';
  usePageCommands([
    { id: 'search', label: 'Search sessions', icon: <Search aria-hidden />, run: focusSearch },
    ...(isFiltered(search) ? [{ id: 'clear', label: 'Clear filters', icon: <FilterX aria-hidden />, run: clear }] : []),
    {
      id: 'order',
      label: newest ? 'Attention first' : 'Newest first',
      keywords: ['order', 'sort'],
      icon: <ArrowDownWideNarrow aria-hidden />,
      run: () => change({ order: newest ? undefined : 'newest' }),
    },
    ...filterCommands(search, change),
  ]);
}

/** Commands for every value of the short filters; the other filters are set on the page. */
function filterCommands(search: SessionsPageSearch, change: Change) {
  const icon = <ListFilter aria-hidden />;
  return [
    {
      id: 'approvals',
      label: search.approvals ? 'Remove filter: Needs approval' : 'Filter by approval: Needs approval',
      keywords: ['approve', 'waiting'],
      icon: <Hourglass aria-hidden />,
      run: () => change({ approvals: search.approvals ? undefined : 'waiting' }),
    },
    ...outcomes.map((outcome) => ({
      id: `outcome ${outcome}`,
      label: `Filter by outcome: ${outcomeWord(outcome)}`,
      icon,
      run: () => change({ outcome: [outcome] }),
    })),
    ...handlingStates.map((state) => ({
      id: `handling ${state}`,
      label: `Filter by handling: ${handlingWord(state)}`,
      icon,
      run: () => change({ handling: [state] }),
    })),
    {
      id: 'assignee me',
      label: search.assignee === me ? 'Remove filter: Assigned to me' : 'Filter by assignee: Me',
      keywords: ['assigned', 'mine'],
      icon: <UserRound aria-hidden />,
      run: () => change({ assignee: search.assignee === me ? undefined : me }),
    },
    ...statuses.map((status) => ({
      id: `status ${status}`,
      label: `Filter by status: ${statusLabel(status)}`,
      icon,
      run: () => change({ status: [status] }),
    })),
    ...severities.map((severity) => ({
      id: `severity ${severity}`,
      label: `Filter by severity: ${severityLabel(severity)}`,
      icon,
      run: () => change({ severity }),
    })),
    ...Object.entries(rangeWords)
      .filter(([range]) => range !== search.range)
      .map(([range, word]) => ({
        id: `range ${range}`,
        label: `Filter by time: ${word}`,
        icon,
        run: () => change({ range: range as Range, after: undefined, before: undefined }),
      })),
  ];
}

/** The number of sessions found; pages that are not loaded are not counted. */
function Matches({ count, more }: { count: number; more: boolean }) {
  return (
    <p role="status" className="text-ink-soft tabular-nums" data-testid="search-count">
      {more ? `${count}+ sessions match` : `${counted(count, 'session')} ${count === 1 ? 'matches' : 'match'}`}
      <span className="max-sm:hidden">, the best matches first</span>
    </p>
  );
}

/** The number of running and queued sessions, regardless of the filter; also in the tab's title. */
function Activity() {
  const { data } = useQuery(queries.activeSessions());
  const running = data?.active_total ?? 0;
  const waiting = data?.queued_total ?? 0;
  useTitle(running > 0 ? `(${running} running) ${pages.sessions.label}` : pages.sessions.label);
  if (data === undefined) return null;
  return (
    <p className="text-ink-soft tabular-nums">
      {running} running{waiting > 0 && `, ${waiting} queued`}
    </p>
  );
}

/** A notice that a refresh failed and the rows may be outdated. */
function Stale({ error, at, retry }: { error: unknown; at: number; retry: () => void }) {
  return (
    <div
      role="alert"
      className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-warn/40 bg-warn-soft px-3 py-1.5 text-warn"
    >
      <span className="min-w-0 flex-1 break-words">
        Could not refresh the list; it shows the state as of <ClockTime at={new Date(at).toISOString()} />.{' '}
        {asProblem(error).message}
      </span>
      <Button size="sm" onClick={retry}>
        Try again
      </Button>
    </div>
  );
}

function NothingMatches({ clear }: { clear: () => void }) {
  return (
    <EmptyState title={<h2>No sessions match these filters</h2>} icon={<FilterX aria-hidden />}>
      <p>Change or clear the filters to see more sessions.</p>
      <Button className="mt-3" onClick={clear}>
        Clear filters
      </Button>
    </EmptyState>
  );
}
