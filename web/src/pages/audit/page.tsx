/** The Audit page, for administrators: who changed what and when, and how to check that the log was not changed. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Lock, ScrollText } from 'lucide-react';
import { type AuditEntry, type AuditFilter, auditLog } from '@/api/audit';
import { useScope } from '@/app/scope';
import { useTitle } from '@/app/title';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { Continuation } from '@/ui/continuation';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { type Column, Table } from '@/ui/table';
import { DateTime } from '@/ui/time';
import { Export } from './export';
import { Filters } from './filters';
import { Head } from './head';

const route = getRouteApi('/shell/system/audit');

export function AuditPage() {
  useTitle('Audit · System');
  const may = useScope('admin');
  return (
    <div className="mx-auto w-full max-w-[150rem] space-y-4 p-4">
      <h1 className="text-lg font-semibold">Audit</h1>
      {may ? (
        <Log />
      ) : (
        <EmptyState title={<h2>Only administrators can read the audit log</h2>} icon={<Lock aria-hidden />}>
          Log in with the role admin, or with a key that has the admin scope.
        </EmptyState>
      )}
    </div>
  );
}

function Log() {
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const change = (part: AuditFilter) =>
    void navigate({ search: (last) => ({ ...last, ...part }), replace: true, resetScroll: false });
  const filtered = Object.values(filter).some((value) => value !== undefined);
  return (
    <>
      <Head />
      <Card aria-labelledby="audit-rows">
        <CardHeader>
          <CardTitle id="audit-rows">Actions</CardTitle>
          <Filters filter={filter} change={change} />
          <span className="ml-auto flex flex-wrap items-center gap-2">
            {filtered && (
              <Button size="sm" variant="ghost" onClick={() => void navigate({ search: {} })} data-testid="audit-clear">
                Clear filters
              </Button>
            )}
            <Export filter={filter} />
          </span>
        </CardHeader>
        <Rows filter={filter} filtered={filtered} />
      </Card>
    </>
  );
}

function Rows({ filter, filtered }: { filter: AuditFilter; filtered: boolean }) {
  const found = useInfiniteQuery(auditLog(filter));
  if (found.data === undefined) {
    if (found.isPending) return <Loading what="the audit log" />;
    return <ProblemPanel className="m-4" error={found.error} retry={() => void found.refetch()} />;
  }
  const entries = found.data.pages.flatMap((page) => page.entries);
  if (entries.length === 0) {
    return (
      <EmptyState
        title={<h2>{filtered ? 'No actions match these filters' : 'No actions yet'}</h2>}
        icon={<ScrollText aria-hidden />}
      >
        {!filtered && 'What people and programs change through this server appears here.'}
      </EmptyState>
    );
  }
  return (
    <>
      <Table
        caption="Actions, newest first"
        columns={columns}
        rows={entries}
        rowKey={({ id }) => String(id)}
        testId="audit-row"
      />
      <Continuation found={found} shown={entries.length} what="actions" />
    </>
  );
}

const columns: readonly Column<AuditEntry>[] = [
  {
    name: 'Action',
    heading: true,
    cell: (entry) => (
      <>
        <span className="mr-2 font-normal text-ink-soft tabular-nums">#{entry.id}</span>
        <code className="font-mono text-[13px]">{entry.action}</code>
      </>
    ),
  },
  { name: 'When', cell: ({ at }) => <DateTime at={at} />, className: 'md:whitespace-nowrap' },
  {
    name: 'Who',
    cell: (entry) => (
      <>
        {entry.actor || 'unknown'}
        <span className="block text-xs text-ink-soft">
          {entry.actor_kind}
          {entry.role && `, ${entry.role}`}
          {entry.key_prefix && `, key ${entry.key_prefix}…`}
        </span>
      </>
    ),
  },
  { name: 'What changed', cell: (entry) => <Changed entry={entry} /> },
  {
    name: 'Outcome',
    cell: ({ outcome }) =>
      outcome === 'ok' ? <Badge tone="good">Done</Badge> : <Badge tone="bad">{outcome.replaceAll('_', ' ')}</Badge>,
  },
];

/** What an action changed, with its details; a session is a link. */
function Changed({ entry }: { entry: AuditEntry }) {
  const details = Object.entries(entry.details ?? {});
  return (
    <>
      {entry.target_type.replaceAll('_', ' ')}{' '}
      {entry.target_type === 'session' && entry.target_id !== '' ? (
        <Link
          to="/sessions/$sessionId"
          params={{ sessionId: entry.target_id }}
          className="font-mono text-xs [overflow-wrap:anywhere] text-accent underline underline-offset-4"
        >
          {entry.target_id}
        </Link>
      ) : (
        <span className="font-mono text-xs [overflow-wrap:anywhere]">{entry.target_id}</span>
      )}
      {details.length > 0 && (
        <span className="block text-xs [overflow-wrap:anywhere] text-ink-soft">
          {details.map(([name, value]) => `${name}: ${value}`).join(' · ')}
        </span>
      )}
    </>
  );
}
