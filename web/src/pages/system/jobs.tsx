/** Background jobs: the length of the queues, and what failed and why. */
import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Inbox, Pause, Play, RotateCcw } from 'lucide-react';
import { api } from '@/api/client';
import * as notes from '@/api/notes';
import type { Job, JobQueue } from '@/api/types';
import { useScope } from '@/app/scope';
import { counted } from '@/text/format';
import { Badge, type Tone } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card, CardHeader, CardTitle } from '@/ui/card';
import { Continuation } from '@/ui/continuation';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { Select } from '@/ui/input';
import { type Column, Table } from '@/ui/table';
import { Ago, DateTime } from '@/ui/time';
import { useSystemSearch } from './address';
import { jobStates } from './search';

const states: Record<Job['state'], { label: string; tone: Tone; spin?: boolean }> = {
  waiting: { label: 'Waiting', tone: 'idle' },
  running: { label: 'Running', tone: 'running', spin: true },
  retrying: { label: 'Retrying', tone: 'warn' },
  failed: { label: 'Failed', tone: 'bad' },
  completed: { label: 'Completed', tone: 'good' },
};

const kinds: Record<string, string> = {
  notes_extract: 'Extract from a note',
  entities_organize: 'Organize what was extracted',
  notes_reprocess: 'Reprocess notes',
};

export function JobsTab() {
  const { search, change } = useSystemSearch();
  const found = useInfiniteQuery(notes.jobs({ queue: search.queue, state: search.state }));
  if (found.data === undefined) {
    if (found.isPending) return <Loading what="jobs" />;
    return <ProblemPanel error={found.error} retry={() => void found.refetch()} />;
  }
  const [first] = found.data.pages;
  const jobs = found.data.pages.flatMap((page) => page.jobs);
  return (
    <div className="space-y-4">
      {found.isRefetchError && <ProblemPanel error={found.error} retry={() => void found.refetch()} />}
      <Queues queues={first?.queues ?? []} />
      <Card aria-labelledby="system-jobs">
        <CardHeader>
          <CardTitle id="system-jobs">Jobs</CardTitle>
          <span className="text-ink-soft tabular-nums">{counted(first?.total ?? 0, 'job')}</span>
          <span className="ml-auto flex flex-wrap gap-2">
            <Select
              className="w-auto"
              aria-label="Queue"
              value={search.queue ?? ''}
              onChange={(event) => change({ queue: event.target.value || undefined })}
              data-testid="jobs-queue"
            >
              <option value="">Any queue</option>
              {(first?.queues ?? []).map((queue) => (
                <option key={queue.name} value={queue.name}>
                  {queue.name}
                </option>
              ))}
            </Select>
            <Select
              className="w-auto"
              aria-label="State"
              value={search.state ?? ''}
              onChange={(event) => change({ state: jobStates.find((state) => state === event.target.value) })}
              data-testid="jobs-state"
            >
              <option value="">Any state</option>
              {jobStates.map((state) => (
                <option key={state} value={state}>
                  {states[state].label}
                </option>
              ))}
            </Select>
          </span>
        </CardHeader>
        {jobs.length === 0 ? <NoJobs filtered={Boolean(search.queue ?? search.state)} /> : <JobTable jobs={jobs} />}
      </Card>
      <Continuation found={found} shown={jobs.length} what="jobs" />
    </div>
  );
}

function NoJobs({ filtered }: { filtered: boolean }) {
  if (filtered) return <EmptyState title="No jobs match these filters" icon={<Inbox />} />;
  return (
    <EmptyState title="No jobs yet" icon={<Inbox />}>
      Each{' '}
      <Link to="/notes" className="text-accent underline underline-offset-4">
        note
      </Link>{' '}
      that is captured is processed by background jobs, which appear here.
    </EmptyState>
  );
}

function Queues({ queues }: { queues: readonly JobQueue[] }) {
  const client = useQueryClient();
  const may = useScope('admin');
  const toggle = useMutation({
    mutationFn: ({ name, paused }: JobQueue) => {
      const params = { path: { name } };
      return paused
        ? api.POST('/api/v1/queues/{name}/resume', { params })
        : api.POST('/api/v1/queues/{name}/pause', { params });
    },
    onSettled: () => client.invalidateQueries({ queryKey: notes.keys.jobs }),
  });
  const columns: readonly Column<JobQueue>[] = [
    {
      name: 'Queue',
      heading: true,
      cell: (queue) => (
        <span className="inline-flex flex-wrap items-center gap-2">
          {queue.name}
          {queue.paused && (
            <Badge tone="warn" icon={Pause}>
              Paused
            </Badge>
          )}
        </span>
      ),
    },
    { name: 'Waiting', number: true, cell: (queue) => queue.waiting },
    { name: 'Running', number: true, cell: (queue) => queue.running },
    { name: 'Retrying', number: true, cell: (queue) => queue.retrying },
    {
      name: 'Failed',
      number: true,
      cell: (queue) => <span className={queue.failed > 0 ? 'font-medium text-bad' : undefined}>{queue.failed}</span>,
    },
    ...(may
      ? [
          {
            name: 'Actions',
            number: true,
            cell: (queue: JobQueue) => (
              <Button
                size="sm"
                disabled={toggle.isPending}
                aria-label={`${queue.paused ? 'Resume' : 'Pause'} ${queue.name}`}
                onClick={() => toggle.mutate(queue)}
                data-testid="queue-toggle"
              >
                {queue.paused ? <Play aria-hidden /> : <Pause aria-hidden />}
                {queue.paused ? 'Resume' : 'Pause'}
              </Button>
            ),
          },
        ]
      : []),
  ];
  return (
    <Card aria-labelledby="system-queues">
      <CardHeader>
        <CardTitle id="system-queues">Queues</CardTitle>
        {!may && <span className="text-[13px] text-ink-soft">Pausing needs the admin scope.</span>}
      </CardHeader>
      {toggle.error && <ProblemPanel className="m-4" error={toggle.error} />}
      <Table caption="Queues" columns={columns} rows={queues} rowKey={(queue) => queue.name} testId="queue" />
    </Card>
  );
}

function JobTable({ jobs }: { jobs: readonly Job[] }) {
  const client = useQueryClient();
  const may = useScope('write');
  const retry = useMutation({
    mutationFn: (id: number) => api.POST('/api/v1/jobs/{id}/retry', { params: { path: { id: String(id) } } }),
    onSettled: () => client.invalidateQueries({ queryKey: notes.keys.jobs }),
  });
  const columns: readonly Column<Job>[] = [
    {
      name: 'Job',
      heading: true,
      cell: (job) => (
        <>
          {kinds[job.kind] ?? job.kind} <span className="font-normal text-ink-soft tabular-nums">#{job.id}</span>
          {job.error && (
            <span
              className="block max-w-prose text-[13px] font-normal break-words text-bad first-letter:uppercase"
              data-testid="job-error"
            >
              {job.error}
            </span>
          )}
        </>
      ),
    },
    {
      name: 'State',
      cell: (job) => (
        <Badge tone={states[job.state].tone} spin={states[job.state].spin} data-state={job.state}>
          {states[job.state].label}
        </Badge>
      ),
    },
    { name: 'Attempt', cell: (job) => `${job.attempt} of ${job.max_attempts}` },
    {
      name: 'Note',
      cell: (job) =>
        job.note_id ? (
          <Link
            to="/notes/$noteId"
            params={{ noteId: job.note_id }}
            className="text-accent underline underline-offset-4"
          >
            Open note
          </Link>
        ) : (
          <span className="text-ink-soft">none</span>
        ),
    },
    {
      name: 'Queued',
      cell: (job) => (
        <>
          <Ago at={job.created_at} />
          {job.state === 'retrying' && (
            <span className="block text-xs text-ink-soft">
              next attempt <DateTime at={job.scheduled_at} />
            </span>
          )}
        </>
      ),
    },
    {
      name: 'Actions',
      number: true,
      cell: (job) =>
        (job.state === 'failed' || job.state === 'retrying') && may ? (
          <Button
            size="sm"
            disabled={retry.isPending}
            aria-label={`Retry job ${job.id}`}
            onClick={() => retry.mutate(job.id)}
            data-testid="job-retry"
          >
            <RotateCcw aria-hidden /> Retry
          </Button>
        ) : null,
    },
  ];
  return (
    <>
      {retry.error && <ProblemPanel className="m-4" error={retry.error} />}
      <Table caption="Jobs" columns={columns} rows={jobs} rowKey={(job) => String(job.id)} testId="job" />
    </>
  );
}
