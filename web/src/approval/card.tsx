/** A tool call that needs an approval: the call, the reason for the approval, and the decision. */
import { useQuery } from '@tanstack/react-query';
import { Check, Pencil, Undo2, X } from 'lucide-react';
import { type ReactNode, useRef } from 'react';
import { type ApprovalCall, approvalCall } from '@/api/approvals';
import { asProblem } from '@/api/problem';
import { mcpServers } from '@/api/queries';
import { useScope } from '@/app/scope';
import type { Approval } from '@/live/message';
import { dateTime, duration } from '@/text/format';
import { PayloadText } from '@/text/payload-view';
import { useZone } from '@/text/zone';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { isConflict } from '@/ui/conflict';
import { CopyButton } from '@/ui/copy';
import { Loading, ProblemPanel } from '@/ui/feedback';
import { useNow } from '@/ui/now';
import { Ago, DateTime } from '@/ui/time';
import { shownArguments } from './arguments';
import { ArgumentsDiff } from './arguments-diff';
import { type Sent, useDecisions } from './decisions';
import { ApprovalBadge } from './status';
import { sendingWords } from './words';

interface Props {
  /** The id of the approval. */
  id: string;
  approval: Approval;
  server: string;
  tool: string;
  createdAt: string;
  /** Whether the call waits for a decision. */
  waiting: boolean;
  /** Who asks, where the page does not say so: the alert, with a link to its session. */
  about?: ReactNode;
  /** Whether the keys decide about this card although it does not have the focus. */
  current?: boolean;
}

export function ApprovalCard({ id, approval, server, tool, createdAt, waiting, about, current = false }: Props) {
  const { data: call, error, refetch } = useQuery(approvalCall(id, approval.status));
  const { sent } = useDecisions();
  const card = useRef<HTMLDivElement>(null);
  const state = sent.get(id);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms, and a section would be a landmark in every row
    <div
      ref={card}
      role="group"
      aria-label={`Approval of ${server}.${tool}`}
      tabIndex={-1}
      className={cn(
        '@container space-y-3 rounded-lg border bg-surface p-3',
        waiting ? 'border-warn/60 shadow-[inset_3px_0_0_var(--warn)]' : 'border-line',
        current && 'outline-2 outline-offset-2 outline-focus',
      )}
      data-testid="approval"
      data-status={approval.status}
      data-approval-id={id}
      data-current={current}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <ApprovalBadge status={approval.status} changed={approval.arguments !== undefined} />
        {waiting && <Countdown expiresAt={approval.expires_at} />}
      </div>
      {about}
      <p className="[overflow-wrap:anywhere]">
        {call && <span className="font-medium">{call.agent}</span>}
        {call ? ' wants to call ' : 'Call of '}
        <span className="font-mono text-[13px] font-medium" data-testid="approval-tool">
          {server}.{tool}
        </span>
      </p>
      {call && <Statement text={call.statement} />}
      <Facts approval={approval} createdAt={createdAt}>
        {waiting && <ToolDescription server={server} tool={tool} />}
        {waiting && call && <Earlier of={call.earlier} />}
      </Facts>
      {error ? (
        <ProblemPanel error={error} retry={() => void refetch()} />
      ) : call ? (
        <Arguments call={call} />
      ) : (
        <Loading what="the arguments" rows={2} className="p-0" />
      )}
      {waiting && (
        <Decide
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

/** Why the agent wants the call, in its own words. They are the model's, so they prove nothing. */
function Statement({ text }: { text: string }) {
  return (
    <figure data-testid="approval-statement">
      <figcaption className="text-xs font-medium text-ink-soft">
        {text === '' ? 'The agent wrote no reason.' : 'What the agent wrote (not verified)'}
      </figcaption>
      {text !== '' && (
        <blockquote
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
          tabIndex={0}
          className="mt-1 max-h-40 max-w-[75ch] overflow-auto border-l-2 border-line-strong pl-3 [overflow-wrap:anywhere] whitespace-pre-wrap"
        >
          {text}
        </blockquote>
      )}
    </figure>
  );
}

/** What the tool does, as its MCP server describes it. */
function ToolDescription({ server, tool }: { server: string; tool: string }) {
  const { data } = useQuery({ ...mcpServers(), refetchInterval: false, staleTime: 60_000 });
  if (data === undefined) return null;
  const described = data.servers.find(({ id }) => id === server)?.tools.find(({ name }) => name === tool)?.description;
  return (
    <>
      <dt>What it does</dt>
      <dd className="max-w-[75ch]" data-testid="approval-does">
        {described ? `${described} (as its server says)` : 'Its server gives no description.'}
      </dd>
    </>
  );
}

/** What people decided about earlier calls of the tool. */
function Earlier({ of: earlier }: { of: ApprovalCall['earlier'] }) {
  return (
    <>
      <dt>Earlier calls</dt>
      <dd data-testid="approval-earlier">
        {earlier === undefined ? (
          'No decision about this tool among the last 500 requests.'
        ) : (
          <>
            {earlier.approved} approved, {earlier.rejected} rejected. The last one was {earlier.last_status}
            {earlier.last_by && ` by ${earlier.last_by}`} <Ago at={earlier.last_at} />.
          </>
        )}
      </dd>
    </>
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

function Facts({ approval, createdAt, children }: { approval: Approval; createdAt: string; children?: ReactNode }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 gap-y-1 text-[13px] [&_dd]:[overflow-wrap:anywhere] [&_dt]:text-ink-soft">
      {children}
      <dt>Rule</dt>
      <dd data-testid="approval-rule">
        {approval.rule_text && <span className="mr-2">{approval.rule_text}</span>}
        <span className="font-mono text-xs leading-5 text-ink-soft">{approval.rule}</span>
      </dd>
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
  id,
  call,
  sent,
  expiresAt,
  focusCard,
}: {
  id: string;
  call: ApprovalCall | undefined;
  sent: Sent | undefined;
  expiresAt: string;
  /** Moves the focus to the card: the buttons disappear when one of them is used. */
  focusCard: () => void;
}) {
  const decisions = useDecisions();
  const may = useScope('write');
  const expired = Date.parse(expiresAt) <= useNow().getTime();
  if (sent?.state === 'held') return <Held id={id} status={sent.status} until={sent.until} focusCard={focusCard} />;
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
  const disabled = busy || call === undefined || decisions.leaving;
  const ask = (dialog: 'reject' | 'edit') => () => call && decisions.ask({ dialog, call });
  return (
    <div className="flex flex-wrap gap-2">
      <Button
        variant="primary"
        size="sm"
        disabled={disabled}
        onClick={() => {
          focusCard();
          decisions.decide(id, { status: 'approved' });
        }}
        aria-keyshortcuts="y"
        data-testid="approval-approve"
      >
        <Check aria-hidden /> {busy ? 'Sending…' : 'Approve'}
      </Button>
      <Button
        variant="danger"
        size="sm"
        disabled={disabled}
        onClick={ask('reject')}
        aria-keyshortcuts="n"
        data-testid="approval-reject"
      >
        <X aria-hidden /> Reject…
      </Button>
      <Button size="sm" disabled={disabled} onClick={ask('edit')} data-testid="approval-edit">
        <Pencil aria-hidden /> Edit arguments…
      </Button>
    </div>
  );
}

/**
 * A decision that is not sent yet. The button to undo it is at the other end of the line, so that nobody takes the
 * decision back with the second click of a double click.
 */
function Held({
  id,
  status,
  until,
  focusCard,
}: {
  id: string;
  status: 'approved' | 'rejected';
  until: number;
  focusCard: () => void;
}) {
  const decisions = useDecisions();
  const left = Math.max(1, Math.ceil((until - useNow(250).getTime()) / 1000));
  return (
    <div className="flex min-h-7 flex-wrap items-center justify-between gap-x-3 gap-y-2" data-testid="approval-held">
      <p className="text-[13px]" role="status">
        <span className="font-medium">
          {sendingWords[status]} <span aria-hidden>in {Math.min(left, 3)} s</span>.
        </span>{' '}
        <span className="text-ink-soft">If you leave the page before, nothing is sent.</span>
      </p>
      <Button
        size="sm"
        aria-keyshortcuts="u"
        onClick={() => {
          focusCard();
          decisions.undo(id);
        }}
        data-testid="approval-undo"
      >
        <Undo2 aria-hidden /> Undo
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
