/** A tool call that needs an approval: the call, the reason for the approval, and the decision. */
import { useQuery } from '@tanstack/react-query';
import { Check, CircleCheck, CircleX, Clock, Hourglass, type LucideIcon, Pencil, Undo2, X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { type ApprovalCall, approvalCall } from '@/api/approvals';
import { asProblem } from '@/api/problem';
import { useScope } from '@/app/scope';
import { approvalOf } from '@/live/approval';
import type { Approval } from '@/live/message';
import type { EventView } from '@/live/view';
import { dateTime, duration } from '@/text/format';
import { PayloadText } from '@/text/payload-view';
import { useZone } from '@/text/zone';
import { Badge, type Tone } from '@/ui/badge';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { isConflict } from '@/ui/conflict';
import { CopyButton } from '@/ui/copy';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { DateTime } from '@/ui/time';
import { type Sent, useApprovals } from './approvals';
import { shownArguments } from './arguments';
import { ArgumentsDiff } from './arguments-diff';
import { toolCallFacts } from './timeline/preview';

const looks: Record<string, { word: string; tone: Tone; icon: LucideIcon }> = {
  waiting: { word: 'Approval needed', tone: 'warn', icon: Hourglass },
  approved: { word: 'Approved', tone: 'good', icon: CircleCheck },
  rejected: { word: 'Rejected', tone: 'bad', icon: CircleX },
  expired: { word: 'Expired', tone: 'idle', icon: Clock },
  withdrawn: { word: 'Withdrawn', tone: 'idle', icon: Undo2 },
};

export function ApprovalCard({ event }: { event: EventView }) {
  const approval = approvalOf(event);
  const id = typeof event.metadata?.approval_id === 'string' ? event.metadata.approval_id : '';
  const { data: call, error, refetch } = useQuery(approvalCall(id, approval?.status ?? ''));
  const { sent } = useApprovals();
  const card = useRef<HTMLDivElement>(null);
  if (approval === undefined) return null;
  const waiting = approval.status === 'waiting' && event.status === 'streaming';
  const look = looks[approval.status] ?? { word: approval.status, tone: 'idle' as const, icon: Clock };
  const { server, tool } = toolCallFacts(event);
  const state = sent.get(id);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div
      ref={card}
      role="group"
      aria-label={`Approval of ${server}.${tool}`}
      tabIndex={-1}
      className={cn(
        'space-y-3 rounded-lg border bg-surface p-3',
        waiting ? 'border-warn/60 shadow-[inset_3px_0_0_var(--warn)]' : 'border-line',
      )}
      data-testid="approval"
      data-status={approval.status}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Badge tone={look.tone} icon={look.icon}>
          {look.word}
          {approval.status === 'approved' && approval.arguments !== undefined && ' with changes'}
        </Badge>
        {waiting && <Countdown expiresAt={approval.expires_at} />}
      </div>
      <p className="[overflow-wrap:anywhere]">
        {call && <span className="font-medium">{call.agent}</span>}
        {call ? ' wants to call ' : 'Call of '}
        <span className="font-mono text-[13px] font-medium" data-testid="approval-tool">
          {server}.{tool}
        </span>
      </p>
      <Facts approval={approval} createdAt={event.created_at} />
      {error ? (
        <ProblemPanel error={error} retry={() => void refetch()} />
      ) : call ? (
        <Arguments call={call} />
      ) : (
        <Loading what="the arguments" rows={2} className="p-0" />
      )}
      {waiting && (
        <Decide
          eventId={event.id}
          id={id}
          call={call}
          sent={state}
          expiresAt={approval.expires_at}
          focusCard={() => card.current?.focus({ preventScroll: true })}
        />
      )}
      {state?.state === 'refused' && <Refused error={state.error} />}
    </div>
  );
}

/** The time left; the tooltip has the exact expiry. */
function Countdown({ expiresAt }: { expiresAt: string }) {
  const left = Date.parse(expiresAt) - useNow().getTime();
  return (
    <time
      dateTime={expiresAt}
      title={dateTime(expiresAt, useZone())}
      className="text-[13px] text-ink-soft tabular-nums"
      data-testid="approval-expiry"
    >
      {left > 0 ? `Expires in ${duration(Math.ceil(left / 1000) * 1000)}` : 'Expired'}
    </time>
  );
}

function Facts({ approval, createdAt }: { approval: Approval; createdAt: string }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-[13px] [&_dd]:[overflow-wrap:anywhere] [&_dt]:text-ink-soft">
      <dt>Rule</dt>
      <dd className="font-mono text-xs leading-5">{approval.rule}</dd>
      <dt>Requested</dt>
      <dd>
        <DateTime at={createdAt} />
      </dd>
      {approval.decided_at !== undefined && (
        <>
          <dt>{approval.decided_by ? 'Decided' : 'Ended'}</dt>
          <dd data-testid="approval-decided">
            {approval.decided_by && <span className="font-medium">by {approval.decided_by}, </span>}
            <DateTime at={approval.decided_at} />
          </dd>
        </>
      )}
      {approval.reason && (
        <>
          <dt>Reason</dt>
          <dd className="whitespace-pre-wrap" data-testid="approval-reason">
            {approval.reason}
          </dd>
        </>
      )}
    </dl>
  );
}

/** The exact arguments and, if a person edited them, the approved ones. */
function Arguments({ call }: { call: ApprovalCall }) {
  const original = shownArguments(call.argumentsText);
  if (call.editedText === undefined) return <ArgumentText label="Arguments" text={original} />;
  const edited = shownArguments(call.editedText);
  return (
    <>
      <div className="grid gap-3 @2xl:grid-cols-2">
        <ArgumentText label="Original arguments" text={original} />
        <ArgumentText label="Approved arguments" text={edited} />
      </div>
      <ArgumentsDiff before={original} after={edited} />
    </>
  );
}

function ArgumentText({ label, text }: { label: string; text: string }) {
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div role="group" aria-label={label} className="min-w-0" data-testid="approval-arguments">
      {/* The copy button is at the far end: the list's jump button floats over the middle. */}
      <div className="flex h-8 items-center justify-between gap-2">
        <span className="text-xs font-medium text-ink-soft">{label}</span>
        <CopyButton text={text} label={`Copy ${label.toLowerCase()}`} />
      </div>
      <PayloadText text={text} exact />
    </div>
  );
}

function Decide({
  eventId,
  id,
  call,
  sent,
  expiresAt,
  focusCard,
}: {
  eventId: string;
  id: string;
  call: ApprovalCall | undefined;
  sent: Sent | undefined;
  expiresAt: string;
  /** Moves the focus to the card: the buttons disappear when one of them is used. */
  focusCard: () => void;
}) {
  const approvals = useApprovals();
  const may = useScope('write');
  const expired = Date.parse(expiresAt) <= useNow().getTime();
  if (sent?.state === 'accepted') return <Note>Decision saved. Waiting for the session to continue.</Note>;
  if (sent?.state === 'refused' && isConflict(sent.error)) return null;
  if (expired) return <Note>The request has expired. The agent continues without the call.</Note>;
  if (!may)
    return (
      <Note>
        Your access is read-only. Log in with the role responder, or with a key that has the write scope to decide.
      </Note>
    );
  const busy = sent?.state === 'sending';
  const disabled = busy || call === undefined;
  const ask = (dialog: 'reject' | 'edit') => () => call && approvals.ask({ dialog, eventId, call });
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant="primary"
        size="sm"
        disabled={disabled}
        onClick={() => {
          focusCard();
          approvals.decide(id, { status: 'approved' });
        }}
        data-testid="approval-approve"
      >
        <Check aria-hidden /> {busy ? 'Sending…' : 'Approve'}
      </Button>
      <Button variant="danger" size="sm" disabled={disabled} onClick={ask('reject')} data-testid="approval-reject">
        <X aria-hidden /> Reject…
      </Button>
      <Button size="sm" disabled={disabled} onClick={ask('edit')} data-testid="approval-edit">
        <Pencil aria-hidden /> Edit arguments…
      </Button>
    </div>
  );
}

function Note({ children }: { children: ReactNode }) {
  return (
    <p className="text-[13px] text-ink-soft" role="note" data-testid="approval-note">
      {children}
    </p>
  );
}

/**
 * A conflict, such as someone else deciding first or an expired request, shows only its message. Other problems show
 * their code and can be retried.
 */
function Refused({ error }: { error: Error }) {
  if (!isConflict(error)) return <ProblemPanel error={error} />;
  return (
    <p
      role="alert"
      className="rounded-md bg-warn-soft px-3 py-1.5 text-warn first-letter:uppercase"
      data-testid="approval-conflict"
    >
      {asProblem(error).message}
    </p>
  );
}
