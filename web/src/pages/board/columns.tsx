/** The four columns, operated by pointer or keyboard. */
import { Fragment, type KeyboardEvent, useRef, useState } from 'react';
import type { Entity, Project } from '@/api/types';
import { useShortcuts } from '@/app/shortcuts';
import { Button } from '@/ui/button';
import { cn } from '@/ui/cn';
import { ProblemPanel, Skeleton } from '@/ui/feedback';
import { Card } from './card';
import { useDrag } from './drag';
import { statusLabels } from './labels';
import type { Board } from './moves';
import { columns, type Direction, type Move, moved, neighbour, placeOf, stepped } from './order';

const arrows: Record<string, Direction> = {
  ArrowUp: 'up',
  ArrowDown: 'down',
  ArrowLeft: 'left',
  ArrowRight: 'right',
};

/** The shortcuts are registered only for the help dialog; the focused card handles the keys. */
const helpOnly = () => {};

export function Columns({
  board,
  projects,
  showType,
  editable,
  onOpen,
}: {
  board: Board;
  projects: readonly Project[];
  showType: boolean;
  editable: boolean;
  onOpen: (entity: Entity) => void;
}) {
  const { layout, cards, found } = board;
  const area = useRef<HTMLDivElement>(null);
  const [focused, setFocused] = useState('');
  const [announcement, setAnnouncement] = useState('');
  const epics = new Map(projects.flatMap((project) => project.epics.map((epic) => [epic.id, epic.name] as const)));
  // Only one card is in the tab order; arrow keys reach the others.
  const tabbable = placeOf(layout, focused) ? focused : columns.flatMap((column) => layout[column])[0];

  const move = (next: Move) => {
    board.move(next);
    const after = moved(layout, next);
    const place = placeOf(after, next.id);
    if (place === undefined) return;
    const title = cards.get(next.id)?.title ?? '';
    setAnnouncement(
      `${title}: moved to ${statusLabels[place.column]}, position ${place.index + 1} of ${after[place.column].length}.`,
    );
  };
  const drag = useDrag(move);
  const focus = (id: string) => {
    setFocused(id);
    // Waits until the card is rendered at its new place.
    requestAnimationFrame(() =>
      area.current?.querySelector<HTMLElement>(`[data-card-title="${CSS.escape(id)}"]`)?.focus(),
    );
  };
  const step = (id: string, direction: Direction) => {
    const to = stepped(layout, id, direction);
    if (to === undefined) return setAnnouncement(`Cannot move ${direction}: this is the edge of the board.`);
    move({ id, ...to });
    focus(id);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const direction = arrows[event.key];
    const id = event.target instanceof HTMLElement ? event.target.dataset.cardTitle : undefined;
    if (direction === undefined || id === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.shiftKey) return editable ? step(id, direction) : undefined;
    const next = neighbour(layout, id, direction);
    if (next !== undefined) focus(next);
  };
  useShortcuts([
    { keys: '← ↑ ↓ →', label: 'Go to another card', group: 'Board', run: helpOnly },
    ...(editable ? [{ keys: 'Shift ← ↑ ↓ →', label: 'Move the card', group: 'Board', run: helpOnly }] : []),
    { keys: 'Enter', label: 'Open the card', group: 'Board', run: helpOnly },
  ]);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of the cards in it.
    <div ref={area} onKeyDown={onKeyDown} data-palette="none" data-testid="board">
      <p id="board-keys" className="sr-only">
        Arrow keys lead to other cards. {editable && 'Shift and an arrow key move this card.'}
      </p>
      <p className="sr-only" aria-live="assertive" data-testid="board-announcement">
        {announcement}
      </p>
      <div className="grid grid-cols-[minmax(0,1fr)] gap-3 sm:grid-cols-2 xl:grid-cols-4">
        {columns.map((column) => {
          const { data, isPending, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = found[column];
          const ids = layout[column];
          const target = drag.over?.column === column ? drag.over.index : undefined;
          const total =
            (data?.pages[0]?.total ?? 0) + ids.length - (data?.pages.flatMap((p) => p.entities).length ?? 0);
          const others = ids.filter((id) => id !== drag.dragged);
          return (
            <section
              key={column}
              aria-labelledby={`column-${column}`}
              className={cn(
                'flex min-w-0 flex-col rounded-lg border border-transparent bg-sunken p-2 sm:min-h-40',
                target !== undefined && 'border-accent',
              )}
              data-testid={`column-${column}`}
              {...(editable ? drag.column(column) : {})}
            >
              <h2 id={`column-${column}`} className="flex items-center gap-2 px-1 pb-2 text-sm font-semibold">
                {statusLabels[column]}
                {data && <span className="font-normal text-ink-soft tabular-nums">{total}</span>}
              </h2>
              {isPending && <Skeleton className="h-16" />}
              {error && <ProblemPanel className="p-3" error={error} retry={() => void refetch()} />}
              {data && ids.length === 0 && <p className="px-1 text-[13px] text-ink-soft">No cards</p>}
              <ul className="space-y-2" aria-labelledby={`column-${column}`}>
                {ids.map((id) => {
                  const entity = cards.get(id);
                  if (entity === undefined) return null;
                  const before = target !== undefined && id !== drag.dragged && others.indexOf(id) === target;
                  const last = target === others.length && others.at(-1) === id;
                  return (
                    <Fragment key={id}>
                      {before && <DropLine />}
                      <Card
                        entity={{ ...entity, status: column }}
                        epic={entity.epic_id ? epics.get(entity.epic_id) : undefined}
                        showType={showType}
                        tabbable={tabbable === id}
                        dragged={drag.dragged === id}
                        drag={editable ? drag.card(id) : undefined}
                        onOpen={() => {
                          setFocused(id);
                          onOpen(entity);
                        }}
                        onStep={(direction) => step(id, direction)}
                        onMoveTo={(status) => {
                          move({ id, column: status, index: 0 });
                          focus(id);
                        }}
                      />
                      {last && <DropLine />}
                    </Fragment>
                  );
                })}
              </ul>
              {hasNextPage && (
                <Button
                  size="sm"
                  className="mt-2 self-center"
                  disabled={isFetchingNextPage}
                  onClick={() => void fetchNextPage()}
                >
                  {isFetchingNextPage ? 'Loading…' : 'Load more'}
                </Button>
              )}
            </section>
          );
        })}
      </div>
    </div>
  );
}

/** The place where the card would be dropped. */
function DropLine() {
  return <li aria-hidden className="h-0.5 rounded-full bg-accent" />;
}
