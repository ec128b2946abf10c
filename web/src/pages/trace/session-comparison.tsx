/** Two sessions side by side, such as a re-run and its original: verdicts, tools, duration and cost. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { titleOf } from '@/alert/facts';
import * as queries from '@/api/queries';
import type { SessionDetail, Trace } from '@/api/types';
import { useSession } from '@/live/session-hooks';
import { duration, shortId, tokens } from '@/text/format';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { SessionBadge } from '@/ui/outcome';
import { DateTime } from '@/ui/time';
import { difference, type Measure, money } from './measures';
import { useFreshTrace } from './refresh';
import {
  compareSteps,
  compareTools,
  compareVerdicts,
  inOrder,
  modelsOf,
  type SessionTotals,
  type Side,
  type Step,
  sessionTotals,
  type ToolCount,
  type ToolRow,
} from './session-compare';
import { type SideRow, Sides } from './sides';

export function SessionComparison({
  trace,
  session,
  otherId,
  now,
}: {
  trace: Trace;
  session: SessionDetail | undefined;
  otherId: string;
  now: number;
}) {
  const { state } = useSession(otherId);
  const query = useQuery(queries.trace(otherId));
  const other = state.phase === 'ready' ? state.view : undefined;
  useFreshTrace(query, other?.version ?? 0);
  const error = state.phase === 'failed' ? state.problem : query.error;
  if (otherId === trace.session_id) {
    return <EmptyState title="A session cannot be compared with itself">Choose another session to compare.</EmptyState>;
  }
  if (error && (other === undefined || query.data === undefined)) {
    return <ProblemPanel className="m-4" error={error} retry={() => void query.refetch()} />;
  }
  if (session === undefined || other === undefined || query.data === undefined) {
    return <Loading what="the other session" rows={10} />;
  }
  return <Both one={{ session, trace }} other={{ session: other.session, trace: query.data }} now={now} />;
}

function Both({ one, other, now }: { one: Side; other: Side; now: number }) {
  const { left, right, names } = inOrder(one, other);
  const tools = compareTools(left.trace, right.trace);
  return (
    <div className="h-full overflow-y-auto p-3 sm:p-4" data-testid="session-comparison">
      <div className="mx-auto max-w-[150rem] space-y-4">
        <div className="grid gap-4 md:grid-cols-2">
          <About name={names[0]} side={left} />
          <About name={names[1]} side={right} />
        </div>
        <Part title="Verdict" testId="compare-verdict">
          <Sides caption="Verdict" names={names} rows={verdictRows(left.session, right.session)} />
        </Part>
        <Part title="Cost and time" testId="compare-metrics">
          <Sides caption="Cost and time" names={names} rows={metricRows(left, right, now)} />
        </Part>
        <Part title="Tools" testId="compare-tools">
          {tools.length === 0 ? (
            <CardBody className="text-ink-soft">Neither session called a tool.</CardBody>
          ) : (
            <Sides caption="Tools" names={names} rows={tools.map((row) => toolRow(row, names))} />
          )}
        </Part>
      </div>
    </div>
  );
}

function Part({ title, testId, children }: { title: string; testId: string; children: ReactNode }) {
  return (
    <Card data-testid={testId}>
      <CardHeader>
        <CardTitle>{title}</CardTitle>
      </CardHeader>
      {children}
    </Card>
  );
}

function About({ name, side: { session } }: { name: string; side: Side }) {
  const link = 'inline-flex items-center underline underline-offset-2 pointer-coarse:min-h-11';
  const params = { sessionId: session.id };
  return (
    <Card data-testid="compared-session">
      <CardHeader>
        <CardTitle>{name}</CardTitle>
        <SessionBadge session={session} />
        <span className="ml-auto font-mono text-xs text-ink-faint" title={session.id}>
          {shortId(session.id)}
        </span>
      </CardHeader>
      <CardBody className="space-y-1">
        <p className="font-medium break-words">{titleOf(session)}</p>
        <p className="text-[13px] text-ink-soft">
          <DateTime at={session.created_at} /> · {session.chain_id} · {session.author}
        </p>
        <p className="flex flex-wrap gap-x-4">
          <Link to="/sessions/$sessionId" params={params} className={link}>
            Open session
          </Link>
          <Link to="/sessions/$sessionId/trace" params={params} search={{}} className={link}>
            Open trace
          </Link>
        </p>
      </CardBody>
    </Card>
  );
}

function verdictRows(left: SessionDetail, right: SessionDetail): SideRow[] {
  const rows = compareVerdicts(left, right).map(
    (row): SideRow => ({
      key: row.name,
      name: row.name,
      left: row.left || <None />,
      right: row.right || <None />,
      difference: row.same ? '' : 'different',
    }),
  );
  const [own, others] = [compareSteps(left, right), compareSteps(right, left)];
  if (own.length === 0 && others.length === 0) return rows;
  const alone = [...own, ...others].filter((step) => !step.shared).length;
  rows.push({
    key: 'steps',
    name: 'Next steps',
    left: <Steps steps={own} />,
    right: <Steps steps={others} />,
    difference: alone === 0 ? '' : `${alone} only on one side`,
  });
  return rows;
}

function None() {
  return <span className="text-ink-faint">–</span>;
}

function Steps({ steps }: { steps: readonly Step[] }) {
  if (steps.length === 0) return <None />;
  return (
    <ol className="list-decimal space-y-1 pl-5">
      {steps.map((step) => (
        <li key={`${step.title} ${step.command}`}>
          {step.title}
          {!step.shared && <span className="ml-2 text-xs font-medium text-warn">only here</span>}
          {step.command && <code className="block font-mono text-xs break-all text-ink-soft">{step.command}</code>}
        </li>
      ))}
    </ol>
  );
}

const measures: readonly Measure<SessionTotals>[] = [
  { name: 'Cost', of: ({ usage }) => usage.cost_usd, ...money },
  { name: 'Time', of: (totals) => totals.duration, show: duration },
  { name: 'Tokens in', of: ({ usage }) => usage.input_tokens, show: tokens },
  { name: 'Tokens out', of: ({ usage }) => usage.output_tokens, show: tokens },
  { name: 'LLM calls', of: (totals) => totals.llmCalls, show: String },
  { name: 'Tool calls', of: (totals) => totals.toolCalls, show: String },
  { name: 'Failed tool calls', of: (totals) => totals.failedCalls, show: String },
];

function metricRows(left: Side, right: Side, now: number): SideRow[] {
  const totals = [sessionTotals(left, now), sessionTotals(right, now)] as const;
  const [models, others] = [modelsOf(left.trace), modelsOf(right.trace)];
  const text = (name: string, a: string, b: string): SideRow => ({
    key: name,
    name,
    left: a || <None />,
    right: b || <None />,
    difference: a === b ? '' : 'different',
  });
  return [
    ...measures.map(({ name, of, show, exact, compare = (by) => difference(by, show) }): SideRow => {
      const [a, b] = [of(totals[0]), of(totals[1])];
      const value = (amount: number) => (
        <span className="tabular-nums" title={exact?.(amount)}>
          {show(amount)}
        </span>
      );
      return {
        key: name,
        name,
        left: value(a),
        right: value(b),
        difference: a === b ? '' : compare(b - a),
      };
    }),
    text('Models', models.join(', '), others.join(', ')),
    text('Chain', left.session.chain_id, right.session.chain_id),
  ];
}

function toolRow(row: ToolRow, names: readonly [string, string]): SideRow {
  const by = row.right.calls - row.left.calls;
  const failed = row.right.failed - row.left.failed;
  return {
    key: `${row.server} ${row.tool}`,
    name: (
      <>
        <span className="font-mono text-xs">{row.tool}</span>{' '}
        <span className="text-xs font-normal text-ink-faint">{row.server}</span>
      </>
    ),
    left: <Count of={row.left} />,
    right: <Count of={row.right} />,
    difference:
      row.left.calls === 0
        ? `only in ${names[1].toLowerCase()}`
        : row.right.calls === 0
          ? `only in ${names[0].toLowerCase()}`
          : by !== 0
            ? difference(by, String)
            : failed !== 0
              ? `${difference(failed, String)} failed`
              : '',
  };
}

function Count({ of }: { of: ToolCount }) {
  if (of.calls === 0) return <None />;
  return (
    <span className="tabular-nums">
      {of.calls} {of.calls === 1 ? 'call' : 'calls'}
      {of.failed > 0 && <span className="text-bad">, {of.failed} failed</span>}
    </span>
  );
}
