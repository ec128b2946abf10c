/**
 * The selected row, which is the focused one: one row is in the tab order, and arrow keys and j/k reach the others. So
 * the row that people see, that Enter opens and that a screen reader announces is always the same.
 */
import { type KeyboardEvent, type RefObject, useState } from 'react';
import { flushSync } from 'react-dom';

type Move = 'next' | 'previous' | 'first' | 'last';

/** Returns the id that a move leads to; the list does not wrap around. */
export function moved(ids: readonly string[], current: string, move: Move): string {
  const at = ids.indexOf(current);
  const target = { next: at + 1, previous: Math.max(at, 1) - 1, first: 0, last: ids.length - 1 }[move];
  return ids[Math.min(target, ids.length - 1)] ?? '';
}

const moves: Record<string, Move> = { ArrowDown: 'next', ArrowUp: 'previous', Home: 'first', End: 'last' };

/** The last selected row, so that returning from a session continues there. */
const remembered = { id: '' };

interface Selection {
  /** The row in the tab order. */
  id: string;
  select: (id: string) => void;
  /** Moves the selection, or focuses the selected row if the focus is elsewhere. */
  move: (move: Move) => void;
  open: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** `show` scrolls to a row. Only the selected row is certain to be mounted while out of view. */
export function useSelection(
  list: RefObject<HTMLElement | null>,
  ids: readonly string[],
  show: (index: number) => void,
): Selection {
  const [chosen, setChosen] = useState(remembered.id);
  const id = ids.includes(chosen) ? chosen : (ids[0] ?? '');

  const select = (next: string) => {
    remembered.id = next;
    setChosen(next);
  };
  const row = (which: string) => list.current?.querySelector<HTMLElement>(`[data-session-id="${CSS.escape(which)}"]`);
  const inside = () => list.current?.contains(document.activeElement) ?? false;
  const move = (where: Move) => {
    const next = inside() ? moved(ids, id, where) : id;
    if (next === '') return;
    // A row can be focused only when it is mounted, which selecting it ensures.
    flushSync(() => select(next));
    row(next)?.focus({ preventScroll: true });
    show(ids.indexOf(next));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const where = moves[event.key];
    if (where === undefined || event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    move(where);
  };
  return { id, select, move, onKeyDown, open: () => void (inside() && row(id)?.click()) };
}
