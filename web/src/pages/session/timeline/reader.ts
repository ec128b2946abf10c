import { type HTMLAttributes, type UIEvent, useRef } from 'react';
import type { Follow } from './follow';

/** Reports the reader's scrolling to a list that follows its end. Returns the handlers for the scrolling element. */
export function useReader(
  follow: Follow,
  total: number,
  scrolledTo?: (top: number) => void,
): HTMLAttributes<HTMLDivElement> {
  const touch = useRef(0);
  const pulled = (element: HTMLElement) => follow.step({ type: 'pulled', top: element.scrollTop, total });
  const pushed = ({ scrollTop: top, scrollHeight, clientHeight }: HTMLElement) =>
    follow.step({ type: 'pushed', top, max: scrollHeight - clientHeight });
  return {
    // Only the scroll bar belongs to the list element itself; a click on a row is not scrolling.
    onPointerDown: (event) => {
      if (event.target === event.currentTarget) follow.step({ type: 'taken' });
    },
    onScroll: (event: UIEvent<HTMLDivElement>) => {
      if (event.target !== event.currentTarget) return;
      const { scrollTop: top, scrollHeight, clientHeight } = event.currentTarget;
      follow.step({ type: 'scrolled', top, max: scrollHeight - clientHeight, total });
      // A block taller than a step is rendered in slices, which change even while the same rows are in view.
      scrolledTo?.(top);
    },
    onWheel: (event) => {
      if (event.deltaY === 0 || event.ctrlKey) return;
      if (event.deltaY > 0) {
        pushed(event.currentTarget);
        return;
      }
      // A pane that can still scroll up handles the wheel itself.
      if (event.currentTarget.scrollTop > 0) event.stopPropagation();
      pulled(event.currentTarget);
    },
    onTouchStart: (event) => {
      touch.current = event.touches[0]?.clientY ?? 0;
    },
    onTouchMove: (event) => {
      const now = event.touches[0]?.clientY ?? 0;
      if (now < touch.current - 4) pushed(event.currentTarget);
      if (now <= touch.current + 4) return;
      if (event.currentTarget.scrollTop > 0) event.stopPropagation();
      pulled(event.currentTarget);
    },
  };
}
