/** What went on inside a session: its calls as a tree and a waterfall, each in full, and two executions side by side. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ChevronLeft, ChevronsDownUp, ChevronsUpDown, Columns2, Network, X } from 'lucide-react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { titleOf } from '@/alert/facts';
import * as queries from '@/api/queries';
import type { Trace } from '@/api/types';
import { useTitle } from '@/app/title';
import { useSession } from '@/live/hooks';
import type { SessionStore, SessionView } from '@/live/view';
import { counted, duration, tokens } from '@/text/format';
import { Button } from '@/ui/button';
import { Cost } from '@/ui/cost';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { chosen, comparable } from './compare';
import { Comparison } from './comparison';
import { rangeOf } from './geometry';
import { LLMDetails } from './llm';
import { MCPDetails } from './mcp';
import { useFreshTrace } from './refresh';
import { type Call, callIndex, flatten, names, sessionRow, timesOf } from './rows';
import { Waterfall } from './waterfall';

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

/** The heading, which every state of the page has. */
function Frame({
  sessionId,
  view,
  actions,
  facts,
  children,
}: {
  sessionId: string;
  view: SessionView | undefined;
  actions?: ReactNode;
  facts?: ReactNode;
  children: ReactNode;
}) {
  return (
    <div className="flex h-full min-h-0 flex-col" data-testid="trace">
      <header className="border-b border-line bg-surface px-3 py-2 sm:px-4">
        <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
          <div className="flex min-w-0 flex-1 items-center gap-2">
            <nav aria-label="Breadcrumb" className="shrink-0">
              <Link
                to="/sessions/$sessionId"
                params={{ sessionId }}
                className="flex h-8 items-center gap-0.5 rounded-md pr-2 text-ink-soft hover:bg-sunken hover:text-ink"
                aria-label="Back to session"
              >
                <ChevronLeft className="size-4" aria-hidden />
                <span className="max-sm:hidden">Session</span>
              </Link>
            </nav>
            <h1 className="min-w-0 truncate text-base font-semibold">
              Trace
              {view && <span className="font-normal text-ink-soft"> · {titleOf(view.session)}</span>}
            </h1>
          </div>
          <div className="flex items-center gap-1">{actions}</div>
        </div>
        {facts && <div className="mt-1 flex flex-wrap gap-x-4 gap-y-1 text-[13px] text-ink-soft">{facts}</div>}
      </header>
      <div className="min-h-0 flex-1 max-lg:overflow-y-auto">{children}</div>
    </div>
  );
}

function ReadyTrace({ trace, store, view }: { trace: Trace; store: SessionStore; view: SessionView | undefined }) {
  const { call, left, right } = route.useSearch();
  const navigate = route.useNavigate();
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const times = useMemo(() => timesOf(view), [view]);
  const rows = useMemo(() => flatten(trace, times, closed), [trace, times, closed]);
  const calls = useMemo(() => callIndex(trace), [trace]);
  const everything = useMemo(() => flatten(trace, times, new Set()), [trace, times]);
  const now = useTraceNow(everything.some((row) => row.span !== undefined && row.span.end === undefined));
  const range = useMemo(() => rangeOf(everything, now), [everything, now]);
  const choice = chosen(trace, left, right);
  const stages = comparable(trace);

  const toggle = (id: string) => {
    const next = new Set(closed);
    if (!next.delete(id)) next.add(id);
    setClosed(next);
  };
  const groups = everything.filter((row) => 'open' in row).map((row) => row.id);
  const executions = everything.filter((row) => row.kind === 'execution' || row.id === sessionRow).map((row) => row.id);
  const folded = groups.length > 0 && executions.every((id) => closed.has(id));

  const firstPair = stages[0]?.executions;
  const actions = choice ? (
    <Button size="sm" onClick={() => void navigate({ search: { call } })}>
      <X aria-hidden /> Close comparison
    </Button>
  ) : (
    <>
      {calls.size > 0 && (
        <Button size="sm" variant="ghost" onClick={() => setClosed(new Set(folded ? [] : executions))}>
          {folded ? <ChevronsUpDown aria-hidden /> : <ChevronsDownUp aria-hidden />}
          {folded ? 'Expand all' : 'Collapse all'}
        </Button>
      )}
      {firstPair && (
        <Button
          size="sm"
          data-testid="compare"
          onClick={() =>
            void navigate({ search: { call, left: firstPair[0]?.execution_id, right: firstPair[1]?.execution_id } })
          }
        >
          <Columns2 aria-hidden /> Compare
        </Button>
      )}
    </>
  );

  return (
    <Frame
      sessionId={trace.session_id}
      view={view}
      actions={actions}
      facts={<Totals trace={trace} calls={calls} length={range.end - range.start} />}
    >
      {choice ? (
        <Comparison
          trace={trace}
          choice={choice}
          store={store}
          view={view}
          now={now}
          onChoose={(search) => void navigate({ search: { call, ...search }, replace: true })}
        />
      ) : calls.size === 0 ? (
        <EmptyState title="No calls yet" icon={<Network aria-hidden />}>
          <p>LLM and tool calls appear here once the agents start.</p>
        </EmptyState>
      ) : (
        <div className="flex h-full min-h-0 flex-col lg:flex-row">
          <div className="shrink-0 border-line max-lg:h-[55dvh] max-lg:border-b lg:min-w-0 lg:flex-1 lg:border-r">
            <Waterfall
              rows={rows}
              range={range}
              now={now}
              selected={call}
              onSelect={(id) => void navigate({ search: { call: id } })}
              onToggle={toggle}
            />
          </div>
          <Details sessionId={trace.session_id} id={call} calls={calls} />
        </div>
      )}
    </Frame>
  );
}

function Totals({ trace, calls, length }: { trace: Trace; calls: ReadonlyMap<string, Call>; length: number }) {
  const llmCalls = [...calls.values()].filter((one) => one.kind === 'llm').length;
  return (
    <>
      <span>
        {counted(llmCalls, 'LLM call')}, {counted(calls.size - llmCalls, 'tool call')}
      </span>
      <span>{tokens(trace.usage.total_tokens)} tokens</span>
      <Cost usage={trace.usage} />
      {calls.size > 0 && <span>{duration(length)}</span>}
    </>
  );
}

/** The time that what runs has reached; a trace that is over does not look at the clock. */
function useTraceNow(running: boolean): number {
  const now = useNow(1000).getTime();
  const stopped = useRef(now);
  if (running) stopped.current = now;
  return running ? now : stopped.current;
}

function Details({
  sessionId,
  id,
  calls,
}: {
  sessionId: string;
  id: string | undefined;
  calls: ReadonlyMap<string, Call>;
}) {
  const call = id === undefined ? undefined : calls.get(id);
  const section = useRef<HTMLElement>(null);
  const chosenBefore = useRef(id);
  useEffect(() => {
    // Below the tree, on a narrow screen, nobody would see that the details have come.
    if (id !== undefined && id !== chosenBefore.current) section.current?.scrollIntoView({ block: 'nearest' });
    chosenBefore.current = id;
  }, [id]);
  return (
    <section
      ref={section}
      aria-label="Selected call"
      data-testid="call-details"
      className="min-w-0 bg-canvas lg:w-[44%] lg:overflow-y-auto xl:w-[42%] 2xl:w-[46%]"
    >
      {id === undefined ? (
        <p className="p-4 text-ink-soft">Select a call to see its request and its response.</p>
      ) : call === undefined ? (
        <p className="p-4 text-ink-soft">This call is not in the trace of this session.</p>
      ) : (
        <>
          <h2 className="sticky top-0 z-10 border-b border-line bg-surface px-3 py-1.5 font-semibold sm:px-4">
            <span className={call.kind === 'mcp' ? 'font-mono text-[13px]' : 'first-letter:uppercase'}>
              {names(call).label}
            </span>
            <span className="ml-2 font-normal text-ink-faint">{names(call).hint}</span>
          </h2>
          {call.kind === 'llm' ? (
            <LLMDetails key={id} sessionId={sessionId} id={id} />
          ) : (
            <MCPDetails key={id} sessionId={sessionId} id={id} status={call.item.status} />
          )}
        </>
      )}
    </section>
  );
}
