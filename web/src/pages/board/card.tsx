/**
 * A card of the board. Clicking its title opens it; arrow keys go to other cards, and Shift+arrow keys or its menu move
 * it.
 */
import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  CalendarDays,
  EllipsisVertical,
  Pencil,
  UserRound,
} from 'lucide-react';
import type { ReactNode } from 'react';
import type { Entity } from '@/api/types';
import { dueLabel } from '@/text/format';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { Menu, MenuContent, MenuItem, MenuTrigger } from '@/ui/overlay';
import type { Drag } from './drag';
import { statusLabels, types } from './labels';
import { columns, type Direction } from './order';
import { dayName } from './search';

export function Card({
  entity,
  epic,
  showType,
  tabbable,
  dragged,
  drag,
  onOpen,
  onStep,
  onMoveTo,
}: {
  entity: Entity;
  /** The name of its epic, unless the page makes it obvious. */
  epic?: string;
  showType: boolean;
  tabbable: boolean;
  dragged: boolean;
  /** Undefined if the board is read-only. */
  drag?: ReturnType<Drag['card']>;
  onOpen: () => void;
  onStep: (direction: Direction) => void;
  onMoveTo: (status: Entity['status']) => void;
}) {
  const Icon = types[entity.type].icon;
  const over = entity.status === 'done' || entity.status === 'dropped';
  const overdue = !over && entity.due_on !== null && entity.due_on < dayName(new Date());
  return (
    <li
      className={cn(
        'group relative rounded-md border border-line bg-surface p-2.5 shadow-xs',
        drag && 'cursor-grab active:cursor-grabbing',
        dragged && 'opacity-40',
      )}
      data-testid="board-card"
      data-card={entity.id}
      {...drag}
    >
      <div className="flex items-start gap-1">
        <button
          type="button"
          className={cn(
            'min-w-0 flex-1 text-left font-medium break-words underline-offset-4 hover:underline',
            entity.status === 'dropped' && 'text-ink-soft line-through',
          )}
          tabIndex={tabbable ? 0 : -1}
          aria-describedby="board-keys"
          onClick={onOpen}
          data-card-title={entity.id}
        >
          {showType && (
            <Icon
              className="mr-1 inline size-3.5 -translate-y-px text-ink-soft"
              aria-label={types[entity.type].label}
              role="img"
            />
          )}
          {entity.title}
        </button>
        <Menu>
          <MenuTrigger asChild>
            <Button
              variant="ghost"
              size="icon"
              className="-mt-1 -mr-1 size-7 opacity-60 group-hover:opacity-100 focus-visible:opacity-100"
              aria-label={`Actions for ${entity.title}`}
              data-testid="card-menu"
            >
              <EllipsisVertical aria-hidden />
            </Button>
          </MenuTrigger>
          <MenuContent>
            <MenuItem onSelect={onOpen}>
              <Pencil aria-hidden /> {drag ? 'Edit' : 'Open'}
            </MenuItem>
            {drag &&
              columns
                .filter((column) => column !== entity.status)
                .map((column) => (
                  <MenuItem key={column} onSelect={() => onMoveTo(column)} data-testid={`card-to-${column}`}>
                    {columns.indexOf(column) < columns.indexOf(entity.status) ? (
                      <ArrowLeft aria-hidden />
                    ) : (
                      <ArrowRight aria-hidden />
                    )}
                    Move to {statusLabels[column]}
                  </MenuItem>
                ))}
            {drag && (
              <>
                <MenuItem onSelect={() => onStep('up')}>
                  <ArrowUp aria-hidden /> Move up
                </MenuItem>
                <MenuItem onSelect={() => onStep('down')}>
                  <ArrowDown aria-hidden /> Move down
                </MenuItem>
              </>
            )}
          </MenuContent>
        </Menu>
      </div>
      <p className="mt-1 flex flex-wrap items-center gap-x-2.5 gap-y-1 text-xs text-ink-soft empty:hidden [&_svg]:size-3.5">
        {entity.owner && (
          <Fact icon={<UserRound aria-hidden />}>
            <span className="sr-only">Owner </span>
            {entity.owner}
          </Fact>
        )}
        {entity.due_on && (
          <Fact icon={<CalendarDays aria-hidden />} className={overdue ? 'font-medium text-bad' : undefined}>
            {overdue ? 'Overdue: ' : <span className="sr-only">Due </span>}
            {dueLabel(entity.due_on)}
          </Fact>
        )}
        {epic && <span className="max-w-full truncate">{epic}</span>}
        {entity.tags.map((tag) => (
          <span key={tag} className="max-w-full truncate rounded bg-idle-soft px-1.5 py-0.5 text-idle">
            {tag}
          </span>
        ))}
      </p>
    </li>
  );
}

function Fact({ icon, className, children }: { icon: ReactNode; className?: string; children: ReactNode }) {
  return (
    <span className={cn('inline-flex min-w-0 items-center gap-1 [&_svg]:shrink-0', className)}>
      {icon}
      <span className="min-w-0 break-words">{children}</span>
    </span>
  );
}
