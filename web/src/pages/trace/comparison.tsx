/** Two executions of one stage side by side: numbers, steps, and what each came to. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useId, useMemo } from 'react';
import * as queries from '@/api/queries';
import type { MCPInteractionItem, Trace, TraceExecution } from '@/api/types';
import { useEvent } from '@/live/hooks';
import type { SessionStore, SessionView } from '@/live/view';
import { cost, duration, tokens } from '@/text/format';
import { Markdown } from '@/text/markdown';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { cn } from '@/ui/cn';
import { Select } from '@/ui/input';
import { StatusBadge, StatusIcon } from '@/ui/status';
import { align, type Choice, comparable, type Pair, sameJson, stepKey, type Totals, totalsOf } from './compare';
import { prettyJson } from './pretty';
import { type Call, callsOf, names, statusOf } from './rows';

/** More steps than this are not drawn: nobody compares so many by eye. */
const mostSteps = 300;

export function Comparison({
  trace,
  choice,
  store,
  view,
  now,
  onChoose,
}: {
  trace: Trace;
  choice: Choice;
  store: SessionStore;
  view: SessionView | undefined;
  now: number;
  onChoose: (search: { left: string; right: string }) => void;
}) {
  const { left, right } = choice;
  const pairs = useMemo(() => align(callsOf(left), callsOf(right)), [left, right]);
  const same = pairs.filter((pair) => pair.left && pair.right && stepKey(pair.left) === stepKey(pair.right)).length;
  return (
    <div className="h-full space-y-4 overflow-y-auto p-3 sm:p-4" data-testid="comparison">
      <div className="mx-auto max-w-[110rem] space-y-4">
        <div className="grid gap-2 sm:grid-cols-2">
          <Chooser
            trace={trace}
            label="Left"
            value={left}
            onChange={(id) => onChoose({ left: id, right: right.execution_id })}
          />
          <Chooser
            trace={trace}
            label="Right"
            value={right}
            only={choice.stage.stage_id}
            onChange={(id) => onChoose({ left: left.execution_id, right: id })}
          />
        </div>
        <Card>
          <CardHeader>
            <CardTitle>In numbers</CardTitle>
          </CardHeader>
          <Numbers left={left} right={right} now={now} />
        </Card>
        <Card>
          <CardHeader>
            <CardTitle>Steps</CardTitle>
            <span className="text-ink-faint">
              {same} of {pairs.length} are the same step
            </span>
          </CardHeader>
          <ol className="divide-y divide-line">
            {pairs.slice(0, mostSteps).map((pair) => (
              <Step
                key={`${pair.left?.item.id} ${pair.right?.item.id}`}
                pair={pair}
                store={store}
                sessionId={trace.session_id}
              />
            ))}
          </ol>
          {pairs.length > mostSteps && (
            <p className="border-t border-line p-3 text-ink-soft">
              {pairs.length - mostSteps} more steps are not shown.
            </p>
          )}
        </Card>
        <Card>
          <CardHeader>
            <CardTitle>What each came to</CardTitle>
          </CardHeader>
          <div className="grid divide-line max-md:divide-y md:grid-cols-2 md:divide-x">
            <FinalText key={left.execution_id} execution={left} view={view} store={store} />
            <FinalText key={right.execution_id} execution={right} view={view} store={store} />
          </div>
        </Card>
      </div>
    </div>
  );
}

function Chooser({
  trace,
  label,
  value,
  only,
  onChange,
}: {
  trace: Trace;
  label: string;
  value: TraceExecution;
  only?: string;
  onChange: (id: string) => void;
}) {
  const id = useId();
  const stages = comparable(trace).filter((stage) => only === undefined || stage.stage_id === only);
  return (
    <div className="flex items-center gap-2">
      <label htmlFor={id} className="w-10 shrink-0 text-ink-soft">
        {label}
      </label>
      <Select id={id} value={value.execution_id} onChange={(event) => onChange(event.target.value)}>
        {stages.map((stage) => (
          <optgroup key={stage.stage_id} label={stage.stage_name}>
            {stage.executions.map((one) => (
              <option key={one.execution_id} value={one.execution_id}>
                {one.agent_index}. {one.agent_name} ({one.llm_provider})
              </option>
            ))}
          </optgroup>
        ))}
      </Select>
    </div>
  );
}

const measures: { name: string; of: (totals: Totals) => number; show: (value: number) => string }[] = [
  { name: 'Time', of: (totals) => totals.duration, show: duration },
  { name: 'LLM calls', of: (totals) => totals.llmCalls, show: String },
  { name: 'Tool calls', of: (totals) => totals.toolCalls, show: String },
  { name: 'Failed tool calls', of: (totals) => totals.failedCalls, show: String },
  { name: 'Tokens in', of: (totals) => totals.usage.input_tokens, show: tokens },
  { name: 'Tokens out', of: (totals) => totals.usage.output_tokens, show: tokens },
  { name: 'Cost', of: (totals) => totals.usage.cost_usd, show: cost },
];

function Numbers({ left, right, now }: { left: TraceExecution; right: TraceExecution; now: number }) {
  const totals = [totalsOf(left, now), totalsOf(right, now)] as const;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard.
    <section className="overflow-x-auto max-sm:text-xs" aria-label="In numbers" tabIndex={0}>
      <table className="w-full text-left tabular-nums">
        <thead className="text-xs text-ink-faint">
          <tr className="border-b border-line">
            <td className="px-2 py-2 sm:px-4" />
            {[left, right].map((one) => (
              <th key={one.execution_id} scope="col" className="px-2 py-2 font-medium sm:px-4">
                {one.agent_name}
              </th>
            ))}
            <th scope="col" className="px-2 py-2 font-medium sm:px-4">
              Difference
            </th>
          </tr>
        </thead>
        <tbody>
          <tr className="border-b border-line">
            <th scope="row" className="px-2 py-1.5 sm:px-4 font-normal text-ink-soft">
              Status
            </th>
            {[left, right].map((one) => (
              <td key={one.execution_id} className="px-2 py-1.5 sm:px-4">
                <StatusBadge status={one.status} />
              </td>
            ))}
            <td />
          </tr>
          {measures.map(({ name, of, show }) => {
            const [a, b] = [of(totals[0]), of(totals[1])];
            return (
              <tr key={name} className="border-b border-line last:border-0">
                <th scope="row" className="px-2 py-1.5 sm:px-4 font-normal whitespace-nowrap text-ink-soft">
                  {name}
                </th>
                <td className="px-2 py-1.5 sm:px-4 whitespace-nowrap">{show(a)}</td>
                <td className="px-2 py-1.5 sm:px-4 whitespace-nowrap">{show(b)}</td>
                <td className="px-2 py-1.5 sm:px-4 whitespace-nowrap text-ink-soft">{difference(b - a, show)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** How much more or less the second has. */
function difference(by: number, show: (value: number) => string): string {
  if (by === 0) return 'the same';
  return `${by > 0 ? '+' : '−'}${show(Math.abs(by))}`;
}

function Step({ pair, store, sessionId }: { pair: Pair; store: SessionStore; sessionId: string }) {
  const { left, right } = pair;
  const same = left !== undefined && right !== undefined && stepKey(left) === stepKey(right);
  return (
    <li className={cn('px-4 py-2', !same && 'bg-warn-soft/50')}>
      <div className="grid gap-x-4 gap-y-1 md:grid-cols-2">
        <Side name="Left" call={left} sessionId={sessionId} />
        <Side name="Right" call={right} sessionId={sessionId} />
      </div>
      {same && left.kind === 'mcp' && right.kind === 'mcp' ? (
        <Arguments left={left.item} right={right.item} store={store} sessionId={sessionId} />
      ) : (
        !same && (
          <p className="mt-1 text-xs text-warn">
            {left === undefined ? 'Only on the right' : right === undefined ? 'Only on the left' : 'Different steps'}
          </p>
        )
      )}
    </li>
  );
}

function Side({ name, call, sessionId }: { name: string; call: Call | undefined; sessionId: string }) {
  if (call === undefined) return <p className="text-ink-faint max-md:hidden">–</p>;
  const { label, hint } = names(call);
  const status = statusOf(call);
  return (
    <div className="flex min-w-0 items-center gap-1.5">
      <span className="w-8 shrink-0 text-xs text-ink-faint md:sr-only">{name}</span>
      {status !== 'completed' && <StatusIcon status={status} />}
      <Link
        to="/sessions/$sessionId/trace"
        params={{ sessionId }}
        search={{ call: call.item.id }}
        className={cn(
          'truncate leading-6 underline-offset-2 hover:underline',
          call.kind === 'mcp' && 'font-mono text-xs',
        )}
      >
        {label}
      </Link>
      <span className="min-w-0 flex-1 truncate text-xs text-ink-faint">{hint}</span>
      <span className="shrink-0 text-xs text-ink-soft tabular-nums">
        {duration(call.item.duration_ms)}
        {call.kind === 'llm' && ` · ${tokens(call.item.usage.total_tokens)} · ${cost(call.item.usage.cost_usd)}`}
      </span>
    </div>
  );
}

function Arguments({
  left,
  right,
  store,
  sessionId,
}: {
  left: MCPInteractionItem;
  right: MCPInteractionItem;
  store: SessionStore;
  sessionId: string;
}) {
  const one = useArguments(left, store, sessionId);
  const other = useArguments(right, store, sessionId);
  if (one === undefined || other === undefined) return null;
  if (sameJson(one, other)) return <p className="mt-1 text-xs text-ink-faint">The same arguments</p>;
  return (
    <div className="mt-1 grid gap-x-4 gap-y-1 md:grid-cols-2">
      {[one, other].map((given, n) => (
        <pre
          // biome-ignore lint/suspicious/noArrayIndexKey: there are two, left and right.
          key={n}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
          tabIndex={0}
          className="max-h-48 overflow-auto rounded bg-sunken p-2 font-mono text-xs break-words whitespace-pre-wrap"
        >
          {prettyJson(given).slice(0, 10_000)}
        </pre>
      ))}
    </div>
  );
}

/** What a tool was given. The timeline mostly has it already; long arguments are asked for. */
function useArguments(item: MCPInteractionItem, store: SessionStore, sessionId: string): unknown {
  const event = useEvent(store, item.timeline_event_id);
  const known = event?.metadata?.arguments;
  const query = useQuery({ ...queries.mcpInteraction(sessionId, item.id), enabled: known === undefined });
  return known ?? query.data?.tool_arguments;
}

/** What an execution concluded. */
function FinalText({
  execution,
  view,
  store,
}: {
  execution: TraceExecution;
  view: SessionView | undefined;
  store: SessionStore;
}) {
  const events = view?.stages
    .flatMap((stage) => stage.executions)
    .find((one) => one.execution.id === execution.execution_id)?.events;
  const id = events?.findLast((event) => store.event(event)?.event_type === 'final_analysis') ?? '';
  const event = useEvent(store, id);
  const whole = useQuery({
    ...queries.timelineEvent(store.sessionId, id),
    enabled: event?.truncated === true,
  });
  const text = event?.truncated ? whole.data?.content : event?.content;
  return (
    <CardBody className="min-w-0">
      <h3 className="mb-2 font-semibold">{execution.agent_name}</h3>
      {text === undefined ? (
        <p className="text-ink-soft">{whole.isFetching ? 'Loading…' : 'It has not concluded.'}</p>
      ) : (
        <div className="max-w-prose">
          <Markdown text={text} />
        </div>
      )}
    </CardBody>
  );
}
