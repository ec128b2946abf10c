/**
 * The calls of a session: filter, tree with waterfall, and the selected call in full, beside the tree or on narrow
 * screens over it.
 */
import { getRouteApi, useRouter, useRouterState } from '@tanstack/react-router';
import { FilterX } from 'lucide-react';
import { useMemo, useRef } from 'react';
import type { Trace } from '@/api/types';
import { usePageCommands } from '@/app/commands';
import type { Lookup } from '@/live/view';
import { Button } from '@/ui/button';
import { EmptyState } from '@/ui/feedback';
import { useMedia } from '@/ui/media';
import { Sheet } from '@/ui/sheet';
import type { Call } from './calls';
import { CallTitle, Details } from './details';
import { countsOf, searchRows, shownRows } from './filter';
import { FilterBar, toggleKind } from './filter-bar';
import { gapsOf } from './gaps';
import { barOf, type Range } from './geometry';
import { looks } from './kinds';
import type { OpenedCall } from './opened';
import { isCall, type Row } from './rows';
import { isFiltered, kinds, type TraceFilter } from './search';
import { Waterfall } from './waterfall';

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** Selecting a call pushed the entry, so going back closes the call. */
    fromTree?: boolean;
  }
}

const route = getRouteApi('/shell/sessions/$sessionId/trace');

export function Explorer({
  trace,
  rows,
  calls,
  event,
  range,
  now,
  filter,
  onFilter,
  call,
  opened,
  closed,
  onToggle,
}: {
  trace: Trace;
  rows: readonly Row[];
  calls: ReadonlyMap<string, Call>;
  event: Lookup;
  range: Range;
  now: number;
  filter: TraceFilter;
  onFilter: (filter: TraceFilter) => void;
  /** The call in the address. */
  call: string | undefined;
  /** The call shown if the address names none. */
  opened: OpenedCall | undefined;
  closed: ReadonlySet<string>;
  onToggle: (id: string) => void;
}) {
  const beside = useMedia('(min-width: 64rem)');
  const navigate = route.useNavigate();
  const router = useRouter();
  const pushed = useRouterState({ select: (state) => state.location.state.fromTree === true });
  const field = useRef<HTMLInputElement>(null);
  const found = useMemo(() => searchRows(rows, filter.search, event), [rows, filter.search, event]);
  const shown = useMemo(() => shownRows(rows, filter, closed, found), [rows, filter, closed, found]);
  const counts = useMemo(() => countsOf(rows, filter, found), [rows, filter, found]);
  const gaps = useMemo(() => gapsOf(trace).map((gap) => barOf(gap.span, range, now)), [trace, range, now]);
  const selected = call ?? opened?.id;
  const row = rows.find((one) => one.id === selected);
  const title = <CallTitle id={selected} row={row && isCall(row) ? row : undefined} call={calls.get(selected ?? '')} />;
  usePageCommands([
    ...kinds
      .filter((kind) => counts.kinds[kind] > 0 || filter.kind?.includes(kind))
      .map((kind) => ({
        id: `kind ${kind}`,
        label: `${filter.kind?.includes(kind) ? 'Stop showing only' : 'Show'} ${looks[kind].plural} in the trace`,
        keywords: ['filter'],
        run: () => onFilter(toggleKind(filter, kind)),
      })),
    {
      id: 'failed',
      label: filter.failed ? 'Show calls that did not fail too' : 'Show only failed calls',
      keywords: ['filter', 'error'],
      run: () => onFilter({ ...filter, failed: filter.failed ? undefined : true }),
    },
    { id: 'search-calls', label: 'Search calls', keywords: ['filter', 'find'], run: () => field.current?.focus() },
    ...(isFiltered(filter) ? [{ id: 'clear', label: 'Clear filters', run: () => onFilter({}) }] : []),
  ]);

  const close = () => {
    if (pushed) router.history.back();
    else void navigate({ search: (last) => ({ ...last, call: undefined }), replace: true });
  };
  const waterfall =
    shown.length === 0 ? (
      <EmptyState title="No calls match these filters" icon={<FilterX aria-hidden />}>
        <Button onClick={() => onFilter({})}>Clear filters</Button>
      </EmptyState>
    ) : (
      <Waterfall
        rows={shown}
        range={range}
        now={now}
        gaps={gaps}
        selected={selected}
        onSelect={(id) =>
          void navigate({ search: (last) => ({ ...last, call: id }), state: { fromTree: true }, replace: id === call })
        }
        onToggle={onToggle}
      />
    );
  return (
    <div className="flex h-full min-h-0 flex-col">
      <FilterBar filter={filter} counts={counts} field={field} onChange={onFilter} />
      <div className="flex min-h-0 flex-1">
        <div className="min-w-0 flex-1 border-line lg:border-r">{waterfall}</div>
        {beside && (
          <section
            aria-label="Selected call"
            data-testid="call-details"
            className="flex w-[44%] min-w-0 flex-col bg-canvas xl:w-[42%] 2xl:w-[46%]"
          >
            <h2 className="border-b border-line bg-surface px-4 py-1.5 font-semibold">
              {title}
              {call === undefined && opened && (
                <span className="ml-2 text-xs font-normal text-ink-faint" data-testid="opened-reason">
                  {opened.reason === 'failed' ? 'first failed call' : 'slowest call'}
                </span>
              )}
            </h2>
            <div className="min-h-0 flex-1 overflow-y-auto">
              <Details sessionId={trace.session_id} id={selected} call={calls.get(selected ?? '')} />
            </div>
          </section>
        )}
      </div>
      {!beside && (
        // Only for a call in the address, not for the default one: a sheet would hide a page that was just opened.
        <Sheet
          open={call !== undefined}
          title={title}
          closeLabel="Close call"
          onClose={close}
          data-testid="call-details"
        >
          <div className="h-full overflow-y-auto">
            <Details sessionId={trace.session_id} id={call} call={calls.get(call ?? '')} />
          </div>
        </Sheet>
      )}
    </div>
  );
}
