/**
 * Which row the keyboard is at. The selection is the browser's own focus (one row can be reached by Tab, the others by
 * arrows and j/k), so that what the eye sees, what Enter opens and what a screen reader says is the same row.
 */
import { type KeyboardEvent, type RefObject, useState } from 'react';
import { flushSync } from 'react-dom';

type Move = 'next' | 'previous' | 'first' | 'last';

/** The id that a move leads to; the list does not go round at its ends. */
export function moved(ids: readonly string[], current: string, move: Move): string {
  const at = ids.indexOf(current);
  const target = { next: at + 1, previous: Math.max(at, 1) - 1, first: 0, last: ids.length - 1 }[move];
  return ids[Math.min(target, ids.length - 1)] ?? '';
}

const moves: Record<string, Move> = { ArrowDown: 'next', ArrowUp: 'previous', Home: 'first', End: 'last' };

/** The row that was selected last, so that coming back from a session continues there. */
const remembered = { id: '' };

interface Selection {
  /** The row that Tab reaches. */
  id: string;
  select: (id: string) => void;
  /** Moves, or begins at the selected row if the focus is elsewhere. */
  move: (move: Move) => void;
  open: () => void;
  onKeyDown: (event: KeyboardEvent) => void;
}

/** `show` scrolls to a row. Every row but the selected one may be missing from the page while it is out of sight. */
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
    // The row is in the page once it is selected, and only then can have the focus.
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
