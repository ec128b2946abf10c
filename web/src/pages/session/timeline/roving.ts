/** Keyboard navigation in a list: one row is in the tab order, and the arrow keys move from there. */
import { type KeyboardEvent, useCallback, useState } from 'react';
import { type FocusRequest, useTimeline } from './context';

/** Returns the row that a key leads to; undefined if the key does not navigate or leads nowhere. */
export function nextStop(
  key: string,
  from: number,
  count: number,
  isStop: (index: number) => boolean,
): number | undefined {
  const ways = new Map([
    ['ArrowDown', { start: from + 1, step: 1 }],
    ['ArrowUp', { start: from - 1, step: -1 }],
    ['Home', { start: 0, step: 1 }],
    ['End', { start: count - 1, step: -1 }],
  ]);
  const { start, step } = ways.get(key) ?? { start: -1, step: 1 };
  for (let index = start; index >= 0 && index < count; index += step) if (isStop(index)) return index;
  return undefined;
}

interface Roving {
  /** The index of the row that had the focus last. */
  active: number | undefined;
  focusRequest: FocusRequest | undefined;
  entered(index: number): void;
  onKeyDown(event: KeyboardEvent<HTMLElement>): void;
}

export function useRoving(options: {
  count: number;
  keyOf(index: number): string;
  isStop(index: number): boolean;
  /** Scrolls a row into view; `up` if it is above the previous one. */
  show(index: number, up: boolean): void;
}): Roving {
  const { count, keyOf, isStop, show } = options;
  const { newToken } = useTimeline();
  const [active, setActive] = useState<number>();
  const [focusRequest, setFocusRequest] = useState<FocusRequest>();
  return {
    active: active !== undefined && active < count ? active : undefined,
    focusRequest,
    entered: useCallback((index: number) => setActive(index), []),
    onKeyDown: (event) => {
      const target = event.target;
      if (!(target instanceof HTMLElement) || target.dataset.stop === undefined || event.altKey || event.metaKey)
        return;
      const from = Number(target.closest<HTMLElement>('[data-index]')?.dataset.index);
      const to = Number.isInteger(from) ? nextStop(event.key, from, count, isStop) : undefined;
      if (to === undefined) return;
      event.preventDefault();
      // A pane is inside the main list but handles its own rows.
      event.stopPropagation();
      show(to, to < from);
      setActive(to);
      setFocusRequest({ key: keyOf(to), token: newToken() });
    },
  };
}
