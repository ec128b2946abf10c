/**
 * A review item with everything needed to decide it. It stays as it was when opened: if someone else changes it, a
 * notice appears, so that nobody decides on something they have not seen.
 */
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Check, ChevronLeft, ChevronRight, GitMerge, Pencil, X } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import * as notes from '@/api/notes';
import { asProblem } from '@/api/problem';
import type { ReviewItem } from '@/api/types';
import { useScope } from '@/app/scope';
import { useShortcuts } from '@/app/shortcuts';
import { percent } from '@/text/format';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { Card, CardBody, CardHeader, CardTitle } from '@/ui/card';
import { ChangeProblem, Conflict } from '@/ui/conflict';
import { EmptyState, Loading, ProblemPanel } from '@/ui/feedback';
import { Input } from '@/ui/input';
import { Kbd } from '@/ui/kbd';
import { useNow } from '@/ui/now';
import { Dialog } from '@/ui/overlay';
import { Ago } from '@/ui/time';
import { changeOf, titleOf } from './change';
import { type Resolution, useResolve } from './decide';
import { Diff } from './diff';
import { EditDialog } from './edit';
import { Evidence } from './evidence';
import { minutesLeft } from './queue';
import { type Decision, decisionsFor, kindLabels, questions, statusLabels } from './words';

interface Props {
  id: string;
  /** The item from the list, if the list has it. */
  listed?: ReviewItem;
  onDecided: (item: ReviewItem, decision: Decision) => void;
  onUndo: () => void;
  onNext?: () => void;
  onPrevious?: () => void;
}

export function Item({ id, listed, ...rest }: Props) {
  const fresh = useQuery({ ...notes.reviewItem(id), initialData: listed });
  const [held, setHeld] = useState(fresh.data);
  if (held === undefined && fresh.data !== undefined) setHeld(fresh.data);
  if (held === undefined) {
    if (fresh.isPending) return <Loading what="the item" rows={6} />;
    return asProblem(fresh.error).status === 404 ? (
      <EmptyState title={<h2>Item not found</h2>}>
        <p>It was removed, or the link is wrong.</p>
        <Button asChild className="mt-3">
          <Link to="/review">Show open items</Link>
        </Button>
      </EmptyState>
    ) : (
      <ProblemPanel error={fresh.error} retry={() => void fresh.refetch()} />
    );
  }
  const reload = async () => {
    const { data } = await fresh.refetch();
    if (data) setHeld(data);
  };
  const changed = fresh.data !== undefined && fresh.data.version !== held.version;
  return <HeldItem key={held.version} item={held} changed={changed} reload={() => void reload()} {...rest} />;
}

function HeldItem({
  item,
  changed,
  reload,
  onDecided,
  onUndo,
  onNext,
  onPrevious,
}: Omit<Props, 'id' | 'listed'> & { item: ReviewItem; changed: boolean; reload: () => void }) {
  const client = useQueryClient();
  const may = useScope('write');
  const resolve = useResolve();
  const [editing, setEditing] = useState(false);
  const [reason, setReason] = useState('');
  const [keep, setKeep] = useState(item.proposal.duplicate_of ?? '');
  const open = item.status === 'open';
  const change = changeOf(item);
  const possible = open && may ? decisionsFor(item.kind) : [];

  const decide = (decision: Decision, more: Partial<Resolution> = {}) => {
    if (resolve.isPending) return;
    // A callback of mutate would not run if the item's event replaced this component before the response. `resolve` has the error.
    resolve.mutateAsync({ item, decision, reason, ...(decision === 'merge' ? { keep_id: keep } : {}), ...more }).then(
      () => onDecided(item, decision),
      () => {},
    );
  };
  const start = (decision: Decision) => (decision === 'edit' ? setEditing(true) : decide(decision));
  const startEditing = (shown: boolean) => {
    resolve.reset();
    setEditing(shown);
  };
  const reloadAll = () => {
    void client.invalidateQueries({ queryKey: notes.keys.review });
    setEditing(false);
    resolve.reset();
    reload();
  };
  useShortcuts(
    buttons
      .filter(({ decision }) => possible.includes(decision))
      .map(({ decision, key, label }) => ({ keys: key, label, group: 'Review', run: () => start(decision) })),
  );
  return (
    <article
      className="space-y-3"
      aria-label={titleOf(item)}
      data-testid="review-item"
      data-item-id={item.id}
      data-kind={item.kind}
      data-status={item.status}
    >
      {changed && !resolve.error && (
        <Conflict message="This item has changed since you opened it." reload={reloadAll} />
      )}
      <div className="grid grid-cols-[minmax(0,1fr)] items-start gap-3 lg:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <Card aria-labelledby="review-proposal">
          <CardHeader>
            <Badge tone={open ? 'warn' : 'idle'}>{kindLabels[item.kind]}</Badge>
            <Certainty item={item} />
            <span className="ml-auto flex items-center gap-1">
              <Button
                size="icon"
                variant="ghost"
                aria-label="Previous item"
                disabled={!onPrevious}
                onClick={onPrevious}
              >
                <ChevronLeft aria-hidden />
              </Button>
              <Button size="icon" variant="ghost" aria-label="Next item" disabled={!onNext} onClick={onNext}>
                <ChevronRight aria-hidden />
              </Button>
            </span>
          </CardHeader>
          <CardBody className="space-y-4">
            <div>
              <CardTitle id="review-proposal" className="text-base break-words">
                {titleOf(item)}
              </CardTitle>
              {open && <p className="mt-0.5 font-medium text-ink-soft">{questions[item.kind]}</p>}
            </div>
            {!open && <Outcome item={item} onUndo={onUndo} />}
            <Diff change={change} comparing={item.kind === 'duplicate'} />
            {item.reason && (
              <div>
                <h3 className="text-xs font-semibold text-ink-soft">Why the model proposes it</h3>
                <p className="mt-0.5 break-words whitespace-pre-wrap">{item.reason}</p>
              </div>
            )}
            {possible.includes('merge') && <Keep item={item} keep={keep} onKeep={setKeep} />}
            {resolve.error && !editing && <ChangeProblem error={resolve.error} reload={reloadAll} />}
            {possible.length > 0 && (
              <div className="space-y-2 border-t border-line pt-3">
                <p className="text-[13px] text-ink-soft">{change.summary}</p>
                <Input
                  aria-label="Reason (optional)"
                  placeholder="Reason (optional)"
                  className="max-w-md"
                  value={reason}
                  onChange={(event) => setReason(event.target.value)}
                  data-testid="review-reason"
                />
                <div className="flex flex-wrap gap-2">
                  {buttons
                    .filter(({ decision }) => possible.includes(decision))
                    .map(({ decision, key, label, icon, variant }) => (
                      <Button
                        key={decision}
                        variant={decision === possible[0] ? 'primary' : variant}
                        className="max-sm:flex-1"
                        disabled={resolve.isPending}
                        aria-keyshortcuts={key}
                        onClick={() => start(decision)}
                        data-testid={`review-${decision}`}
                      >
                        {icon}
                        {decision === 'reject' && item.kind === 'duplicate' ? 'Keep both' : label}
                        <Kbd keys={key} className="ml-1 max-sm:hidden" />
                      </Button>
                    ))}
                </div>
              </div>
            )}
          </CardBody>
        </Card>
        <Evidence item={item} />
      </div>
      <Dialog open={editing} onOpenChange={startEditing}>
        {editing && (
          <EditDialog
            item={item}
            pending={resolve.isPending}
            error={resolve.error}
            onSubmit={(edit) => decide('edit', edit)}
            reload={reloadAll}
          />
        )}
      </Dialog>
    </article>
  );
}

const buttons: readonly {
  decision: Decision;
  key: string;
  label: string;
  icon: ReactNode;
  variant: 'secondary' | 'danger';
}[] = [
  { decision: 'accept', key: 'a', label: 'Accept', icon: <Check aria-hidden />, variant: 'secondary' },
  { decision: 'merge', key: 'm', label: 'Merge', icon: <GitMerge aria-hidden />, variant: 'secondary' },
  { decision: 'edit', key: 'e', label: 'Edit', icon: <Pencil aria-hidden />, variant: 'secondary' },
  { decision: 'reject', key: 'r', label: 'Reject', icon: <X aria-hidden />, variant: 'danger' },
];

/** The model's confidence, or the similarity of two entities. */
export function Certainty({ item }: { item: Pick<ReviewItem, 'confidence' | 'score'> }) {
  return (
    <span className="flex flex-wrap gap-x-3 text-[13px] text-ink-soft tabular-nums">
      {item.confidence !== null && <span>{percent(item.confidence)} sure</span>}
      {item.score !== null && <span>{percent(item.score)} similar</span>}
    </span>
  );
}

/** Chooses which of two entities is kept. */
function Keep({ item, keep, onKeep }: { item: ReviewItem; keep: string; onKeep: (id: string) => void }) {
  if (item.entity === null || item.other === null) return null;
  return (
    <fieldset className="space-y-1">
      <legend className="mb-1 text-xs font-semibold text-ink-soft">Keep after merging</legend>
      {[item.other, item.entity].map((entity) => (
        <label key={entity.id} className="flex min-h-7 cursor-pointer items-center gap-2">
          <input
            type="radio"
            name={`keep-${item.id}`}
            className="size-4 shrink-0 accent-accent"
            checked={keep === entity.id}
            onChange={() => onKeep(entity.id)}
          />
          <span className="min-w-0 break-words">
            {entity.title}{' '}
            <span className="text-ink-soft">
              {entity.id === item.entity?.id ? '(this entity)' : '(likely the same)'}
            </span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The decision, who made it, and an undo button while undo is possible. */
function Outcome({ item, onUndo }: { item: ReviewItem; onUndo: () => void }) {
  const now = useNow(10_000);
  const may = useScope('write');
  const left = item.resolved_at && item.status !== 'obsolete' ? minutesLeft(item.resolved_at, now) : 0;
  const reason = item.decisions.findLast((decision) => decision.undone_at === null)?.reason;
  return (
    <div
      className="flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md bg-idle-soft px-3 py-2"
      data-testid="review-outcome"
    >
      <p className="min-w-0 flex-1 break-words">
        <span className="font-medium">{statusLabels[item.status]}</span>
        {item.resolved_by && ` by ${item.resolved_by}`}
        {item.resolved_at && (
          <>
            {' '}
            <Ago at={item.resolved_at} />
          </>
        )}
        {reason && <span className="block text-ink-soft">{reason}</span>}
      </p>
      {left > 0 && may && (
        <Button size="sm" onClick={onUndo} data-testid="review-undo-item">
          Undo
        </Button>
      )}
    </div>
  );
}
