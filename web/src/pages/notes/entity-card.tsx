/** An entity, shown beside its source text. */
import { Link } from '@tanstack/react-router';
import { CalendarDays, UserRound } from 'lucide-react';
import type { Entity } from '@/api/types';
import { stateLabels, statusLabels, types } from '@/pages/board/labels';
import { dueLabel, percent } from '@/text/format';
import { Badge } from '@/ui/badge';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';

export function EntityCard({
  entity,
  reviewId,
  active,
  onActive,
  onShow,
}: {
  entity: Entity;
  /** The open review item for the entity, if any. */
  reviewId?: string;
  active: boolean;
  onActive: (id: string | undefined) => void;
  /** Shows the entity's passage in the text; undefined if it has none. */
  onShow?: () => void;
}) {
  const { icon: Icon, label } = types[entity.type];
  const gone = entity.state === 'rejected' || entity.state === 'merged';
  return (
    <li
      id={`entity-${entity.id}`}
      className={cn(
        'rounded-lg border bg-surface p-3 transition-colors',
        active ? 'border-accent ring-1 ring-accent' : 'border-line',
      )}
      onPointerEnter={() => onActive(entity.id)}
      onPointerLeave={() => onActive(undefined)}
      onFocus={() => onActive(entity.id)}
      onBlur={() => onActive(undefined)}
      data-testid="note-entity"
      data-entity-id={entity.id}
      data-active={active || undefined}
    >
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1 text-xs text-ink-soft">
        <Icon className="size-3.5" aria-hidden />
        {label}
        {entity.confidence !== null && <span title="How sure the model was">{percent(entity.confidence)} sure</span>}
        <span className="ml-auto">
          {stateLabels[entity.state] === '' ? (
            statusLabels[entity.status]
          ) : (
            <Badge tone={entity.state === 'proposed' ? 'warn' : 'idle'}>{stateLabels[entity.state]}</Badge>
          )}
        </span>
      </p>
      <h3 className={cn('mt-1 font-medium break-words', gone && 'text-ink-soft line-through')}>
        <Link to="/board" search={{ entity: entity.id }} className="underline-offset-4 hover:underline">
          {entity.title}
        </Link>
      </h3>
      {entity.content && <p className="mt-1 break-words whitespace-pre-wrap text-ink-soft">{entity.content}</p>}
      <Facts entity={entity} />
      <p className="mt-2 flex flex-wrap gap-2">
        {onShow && (
          <Button size="sm" onClick={onShow} data-testid="show-passage">
            Show in text
          </Button>
        )}
        {reviewId && (
          <Button asChild size="sm">
            <Link to="/review" search={{ item: reviewId }}>
              Review
            </Link>
          </Button>
        )}
      </p>
    </li>
  );
}

/** The owner, due date and tags. */
export function Facts({ entity }: { entity: Pick<Entity, 'owner' | 'due_on' | 'tags'> }) {
  if (!entity.owner && !entity.due_on && entity.tags.length === 0) return null;
  return (
    <p className="mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 text-xs text-ink-soft [&_svg]:size-3.5">
      {entity.owner && (
        <span className="inline-flex min-w-0 items-center gap-1">
          <UserRound className="shrink-0" aria-hidden />
          <span className="sr-only">Owner</span>
          <span className="break-words">{entity.owner}</span>
        </span>
      )}
      {entity.due_on && (
        <span className="inline-flex items-center gap-1">
          <CalendarDays aria-hidden />
          Due {dueLabel(entity.due_on)}
        </span>
      )}
      {entity.tags.map((tag) => (
        <span key={tag} className="max-w-full truncate rounded bg-idle-soft px-1.5 py-0.5 text-idle">
          {tag}
        </span>
      ))}
    </p>
  );
}
