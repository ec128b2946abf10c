/** The internals of a session: its calls as a tree and a waterfall, each call in full, and comparisons. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Network } from 'lucide-react';
import { useMemo, useState } from 'react';
import { titleOf } from '@/alert/facts';
import * as queries from '@/api/queries';
import type { Trace } from '@/api/types';
import { useTitle } from '@/app/title';
import { useSession } from '@/live/session-hooks';
import type { SessionStore, SessionView } from '@/live/view';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { TraceActions } from './actions';
import { callIndex } from './calls';
import { chosen } from './compare';
import { Comparison } from './comparison';
import { Explorer } from './explorer';
import { Frame, Totals } from './frame';
import { rangeOf } from './geometry';
import { useOpenedCall } from './opened';
import { useFreshTrace } from './refresh';
import { isGroup, rowsOf, sessionRow, timesOf } from './rows';
import type { TraceFilter } from './search';
import { SessionComparison } from './session-comparison';

const route = getRouteApi('/shell/sessions/$sessionId/trace');

export function TracePage() {
  const { sessionId } = route.useParams();
  const { store, state } = useSession(sessionId);
  const view = state.phase === 'ready' ? state.view : undefined;
  const query = useQuery(queries.trace(sessionId));
  useFreshTrace(query, view?.version ?? 0);
  useTitle(view === undefined ? 'Trace' : `Trace · ${titleOf(view.session)}`);
  if (query.isPending) {
    return (
      <Frame sessionId={sessionId} view={view}>
        <Loading what="the trace" rows={10} />
      </Frame>
    );
  }
  if (query.data === undefined) {
    return (
      <Frame sessionId={sessionId} view={view}>
        <ProblemPanel className="m-4" error={query.error} retry={() => void query.refetch()} />
      </Frame>
    );
  }
  return <ReadyTrace key={sessionId} trace={query.data} store={store} view={view} />;
}

function ReadyTrace({ trace, store, view }: { trace: Trace; store: SessionStore; view: SessionView | undefined }) {
  const { call, left, right, compare, kind, failed, search } = route.useSearch();
  const filter = useMemo(() => ({ kind, failed, search }), [kind, failed, search]);
  const navigate = route.useNavigate();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  // The arguments are in the timeline, which was loaded with the view.
  const rows = useMemo(() => rowsOf(trace, timesOf(view), store.event), [trace, view, store]);
  const calls = useMemo(() => callIndex(trace), [trace]);
  const running = rows.some((row) => row.span !== undefined && row.span.end === undefined);
  const now = useNow(running ? 1000 : 0).getTime();
  const range = useMemo(() => rangeOf(rows, now), [rows, now]);
  const opened = useOpenedCall(calls);
  const choice = chosen(trace, left, right);

  const agents = rows.filter((row) => row.kind === 'execution' || row.id === sessionRow).map((row) => row.id);
  const folded = rows.some(isGroup) && agents.every((id) => closed.has(id));
  const change = (next: TraceFilter) => {
    // Matches must not stay hidden below a closed row.
    setClosed(new Set());
    void navigate({ search: (last) => ({ ...last, kind: undefined, failed: undefined, search: undefined, ...next }) });
  };
  return (
    <Frame
      sessionId={trace.session_id}
      view={view}
      facts={<Totals trace={trace} calls={calls} length={range.end - range.start} />}
      actions={
        <TraceActions
          trace={trace}
          calls={calls}
          selected={call ?? opened?.id}
          session={view?.session}
          comparing={compare !== undefined || choice !== undefined}
          folded={folded}
          onFold={(fold) => setClosed(new Set(fold ? agents : []))}
        />
      }
    >
      {compare !== undefined ? (
        <SessionComparison key={compare} trace={trace} session={view?.session} otherId={compare} now={now} />
      ) : choice ? (
        <Comparison
          trace={trace}
          choice={choice}
          store={store}
          view={view}
          now={now}
          onChoose={(pair) => void navigate({ search: (last) => ({ ...last, ...pair }), replace: true })}
        />
      ) : calls.size === 0 ? (
        <EmptyState title="No calls yet" icon={<Network aria-hidden />}>
          <p>LLM and tool calls appear here once the agents start.</p>
        </EmptyState>
      ) : (
        <Explorer
          trace={trace}
          rows={rows}
          calls={calls}
          event={store.event}
          range={range}
          now={now}
          filter={filter}
          onFilter={change}
          call={call}
          opened={opened}
          closed={closed}
          onToggle={(id) => {
            const next = new Set(closed);
            if (!next.delete(id)) next.add(id);
            setClosed(next);
          }}
        />
      )}
    </Frame>
  );
}
