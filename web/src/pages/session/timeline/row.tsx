/** An event as a row: collapsed it has a fixed height, opened it shows everything. */
import { memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useSyncExternalStore } from 'react';
import { approvalWord } from '@/approval/words';
import { approvalOf, waitsForApproval } from '@/live/approval';
import type { EventView } from '@/live/view';
import { duration, tokens } from '@/text/format';
import { cn } from '@/ui/cn';
import { StatusIcon } from '@/ui/status';
import { ClockTime, Running } from '@/ui/time';
import { EventBody } from './body';
import { useTimeline } from './context';
import { hasFailed } from './folding';
import type { Follow } from './follow';
import type { EventRow } from './group';
import { useLiveEvents } from './live';
import { type Look, lookOf } from './look';
import { durationOf, previewOf, type ToolCallFacts, toolCallFacts } from './preview';

interface EventRowProps {
  row: EventRow;
  index: number;
  position: number;
  size: number;
  follow: Follow;
  /** Whether the row is in the tab order. */
  tabbable: boolean;
  /** Whether the page's address names this event. */
  marked: boolean;
  /** The token of the latest request to focus this row. */
  focusToken: number | undefined;
  measure(node: HTMLElement | null): void;
  resized(node: HTMLElement): void;
  entered(index: number): void;
}

export const EventRowView = memo(function EventRowView(props: EventRowProps) {
  const { row, index, follow, measure, resized } = props;
  const { store, folding, answer } = useTimeline();
  const id = row.eventId;
  const ids = useMemo(() => [id, ...row.summaries], [id, row.summaries]);
  const settled = useCallback(
    (before: EventView, after: EventView) => folding.changed(id, before, after, follow.following),
    [folding, id, follow],
  );
  const events = useLiveEvents(store, ids, settled);
  const subscribe = useCallback((listener: () => void) => folding.subscribe(id, listener), [folding, id]);
  const open = useSyncExternalStore(subscribe, () => folding.isOpen(id, ...events));

  const element = useRef<HTMLLIElement>(null);
  const toggle = useRef<HTMLButtonElement>(null);
  const drawnOpen = useRef(open);
  useLayoutEffect(() => {
    if (drawnOpen.current === open || !element.current) return;
    drawnOpen.current = open;
    resized(element.current);
  }, [open, resized]);
  const { focusToken } = props;
  useEffect(() => {
    if (focusToken !== undefined && answer('row', focusToken)) toggle.current?.focus({ preventScroll: true });
  }, [focusToken, answer]);
  const attach = useCallback(
    (node: HTMLLIElement | null) => {
      element.current = node;
      measure(node);
    },
    [measure],
  );

  const event = events.find((candidate) => candidate.id === id);
  if (!event) return <li ref={attach} data-index={index} className="absolute inset-x-0 h-9" />;
  const look = lookOf(event.event_type);
  return (
    <li
      ref={attach}
      id={`event-${id}`}
      aria-setsize={props.size}
      aria-posinset={props.position}
      data-index={index}
      data-testid="timeline-row"
      data-event-id={id}
      data-event-type={event.event_type}
      data-open={open}
      data-marked={props.marked || undefined}
      className={cn(
        'absolute inset-x-0 contain-[layout_style]',
        event.event_type === 'user_question' && 'shadow-[inset_0_2px_0_var(--line-strong)]',
        props.marked && 'shadow-[inset_3px_0_0_var(--accent)]',
      )}
    >
      <button
        ref={toggle}
        type="button"
        data-stop
        tabIndex={props.tabbable ? 0 : -1}
        aria-expanded={open}
        aria-current={props.marked ? 'location' : undefined}
        onClick={() => folding.choose(id, !open)}
        onFocus={() => props.entered(index)}
        className={cn(
          'flex h-9 w-full items-center gap-2 border-b border-line pr-3 pl-1.5 text-left text-[13px] hover:bg-sunken focus-visible:-outline-offset-2',
          row.grouped && 'pl-6',
          open && 'border-transparent',
          props.marked && 'bg-accent-soft hover:bg-accent-soft',
        )}
      >
        <Chevron open={open} />
        <RowLine event={event} summaries={events.length - 1} look={look} open={open} />
      </button>
      {open && (
        <div className="border-b border-line">
          <EventBody event={event} summaries={events.filter((candidate) => candidate.id !== id)} />
        </div>
      )}
    </li>
  );
});

/** A hand-written icon: every row has one, and a library icon costs several times as much. */
export function Chevron({ open }: { open: boolean }) {
  return (
    <svg
      aria-hidden="true"
      viewBox="0 0 14 14"
      className={open ? 'size-3.5 shrink-0 rotate-90 text-ink-faint' : 'size-3.5 shrink-0 text-ink-faint'}
    >
      <path d="M5 3l4 4-4 4" fill="none" stroke="currentColor" strokeWidth="1.5" />
    </svg>
  );
}

/** The line of a row; it stays when the row is opened. */
function RowLine({ event, summaries, look, open }: { event: EventView; summaries: number; look: Look; open: boolean }) {
  const Icon = look.icon;
  const bad = hasFailed(event);
  const facts = look.body === 'call' ? toolCallFacts(event) : undefined;
  const preview = useMemo(() => previewOf(event), [event]);
  return (
    <>
      <Icon aria-hidden className={cn('size-4 shrink-0 text-ink-faint', bad && 'text-bad')} />
      {facts ? (
        <ToolName facts={facts} />
      ) : (
        <span
          className={cn(
            'shrink-0',
            !open && '@max-lg:sr-only',
            look.weight === 'strong' && 'font-semibold',
            look.weight === 'quiet' && 'text-ink-faint',
          )}
        >
          {look.label}
        </span>
      )}
      <span
        className={cn(
          'min-w-0 flex-1 truncate text-ink-soft',
          look.weight === 'quiet' && 'text-ink-faint',
          facts && 'font-mono text-xs',
          // An open row shows the text below; the arguments of a call still identify it.
          open && !facts && 'invisible',
        )}
      >
        {preview}
      </span>
      {facts && <ApprovalChip event={event} />}
      {facts && <CallFacts facts={facts} summarised={summaries > 0} />}
      {event.status !== 'completed' && <StatusIcon status={waitsForApproval(event) ? 'waiting' : event.status} />}
      <Took event={event} />
      <ClockTime
        at={event.created_at}
        className="w-26 shrink-0 text-right text-xs whitespace-nowrap text-ink-faint tabular-nums @max-xl:hidden"
      />
    </>
  );
}

export function ToolName({ facts }: { facts: ToolCallFacts }) {
  const name = facts.server ? `${facts.server}.${facts.tool}` : facts.tool;
  return (
    <>
      {facts.call && (
        <span className="shrink-0 rounded border border-line px-1 font-mono text-xs text-ink-soft">
          <span className="sr-only">Tool call </span>
          {facts.call}
        </span>
      )}
      <span className="max-w-[55%] min-w-0 shrink-0 truncate font-medium @max-md:max-w-32" title={name}>
        {facts.server && <span className="@max-md:sr-only">{facts.server}.</span>}
        {facts.tool}
      </span>
    </>
  );
}

function CallFacts({ facts, summarised }: { facts: ToolCallFacts; summarised: boolean }) {
  const chip = 'shrink-0 rounded px-1.5 text-xs font-medium';
  return (
    <>
      {facts.unknown && <span className={cn(chip, 'bg-warn-soft text-warn')}>outcome unknown</span>}
      {facts.failed && <span className={cn(chip, 'bg-bad-soft text-bad')}>error</span>}
      {facts.attempt > 1 && <span className={cn(chip, 'bg-idle-soft text-idle')}>attempt {facts.attempt}</span>}
      {summarised && <span className={cn(chip, 'bg-idle-soft text-idle @max-lg:sr-only')}>summarised</span>}
      {facts.resultTokens !== undefined && (
        <span
          className="shrink-0 text-xs text-ink-faint tabular-nums @max-md:hidden"
          title="Estimated tokens of the result"
        >
          {tokens(facts.resultTokens)} tok
        </span>
      )}
    </>
  );
}

const approvalChips: Record<string, string> = {
  waiting: 'bg-warn-soft text-warn',
  approved: 'bg-good-soft text-good',
  rejected: 'bg-bad-soft text-bad',
  expired: 'bg-idle-soft text-idle',
  withdrawn: 'bg-idle-soft text-idle',
};

function ApprovalChip({ event }: { event: EventView }) {
  const status = approvalOf(event)?.status ?? '';
  const look = approvalChips[status];
  if (!look) return null;
  return (
    <span
      className={cn('shrink-0 rounded px-1.5 text-xs font-medium @max-md:sr-only', look)}
      data-testid="approval-chip"
    >
      {approvalWord(status).toLowerCase()}
    </span>
  );
}

function Took({ event }: { event: EventView }) {
  const look = 'min-w-14 shrink-0 text-right text-xs whitespace-nowrap text-ink-faint tabular-nums';
  if (event.status === 'streaming') return <Running since={event.created_at} className={look} />;
  const took = durationOf(event);
  return (
    <span className={cn(look, took === undefined && '@max-xl:hidden')}>{took !== undefined && duration(took)}</span>
  );
}
