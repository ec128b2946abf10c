/** Two executions of one stage side by side: metrics, steps and results. */
import { useId, useMemo } from 'react';
import type { Trace, TraceExecution } from '@/api/types';
import { useEvent, useWhole } from '@/live/session-hooks';
import type { SessionStore, SessionView } from '@/live/view';
import { duration, tokens } from '@/text/format';
import { Markdown } from '@/text/markdown';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { ProblemPanel } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { StatusBadge } from '@/ui/status';
import { callsOf } from './calls';
import { align, type Choice, comparable, stepKey, type Totals, totalsOf } from './compare';
import { difference, type Measure, money } from './measures';
import { Step } from './step';

/** More steps than this are not rendered: nobody compares that many by eye. */
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
      <div className="mx-auto max-w-[150rem] space-y-4">
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
            <CardTitle>Metrics</CardTitle>
          </CardHeader>
          <Numbers left={left} right={right} now={now} />
        </Card>
        <Card>
          <CardHeader>
            <CardTitle>Steps</CardTitle>
            <span className="text-ink-faint">
              {same} of {pairs.length} steps match
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
            <CardTitle>Results</CardTitle>
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

const measures: readonly Measure<Totals>[] = [
  { name: 'Time', of: (totals) => totals.duration, show: duration },
  { name: 'LLM calls', of: (totals) => totals.llmCalls, show: String },
  { name: 'Tool calls', of: (totals) => totals.toolCalls, show: String },
  { name: 'Failed tool calls', of: (totals) => totals.failedCalls, show: String },
  { name: 'Tokens in', of: (totals) => totals.usage.input_tokens, show: tokens },
  { name: 'Tokens out', of: (totals) => totals.usage.output_tokens, show: tokens },
  { name: 'Cost', of: (totals) => totals.usage.cost_usd, ...money },
];

function Numbers({ left, right, now }: { left: TraceExecution; right: TraceExecution; now: number }) {
  const totals = [totalsOf(left, now), totalsOf(right, now)] as const;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls sideways must be reachable by keyboard.
    <section className="overflow-x-auto max-sm:text-xs" aria-label="Metrics" tabIndex={0}>
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
          {measures.map(({ name, of, show, exact, compare = (by) => difference(by, show) }) => {
            const [a, b] = [of(totals[0]), of(totals[1])];
            return (
              <tr key={name} className="border-b border-line last:border-0">
                <th scope="row" className="px-2 py-1.5 sm:px-4 font-normal whitespace-nowrap text-ink-soft">
                  {name}
                </th>
                <td className="px-2 py-1.5 sm:px-4 whitespace-nowrap" title={exact?.(a)}>
                  {show(a)}
                </td>
                <td className="px-2 py-1.5 sm:px-4 whitespace-nowrap" title={exact?.(b)}>
                  {show(b)}
                </td>
                <td className="px-2 py-1.5 sm:px-4 whitespace-nowrap text-ink-soft">{compare(b - a)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

/** The conclusion of an execution. */
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
  const whole = useWhole(store, event);
  return (
    <CardBody className="min-w-0">
      <h3 className="mb-2 font-semibold">{execution.agent_name}</h3>
      {whole.error ? (
        <ProblemPanel error={whole.error} retry={whole.retry} />
      ) : whole.event === undefined ? (
        <p className="text-ink-soft">{event ? 'Loading…' : 'No conclusion yet.'}</p>
      ) : (
        <div className="max-w-prose">
          <Markdown text={whole.event.content} />
        </div>
      )}
    </CardBody>
  );
}
