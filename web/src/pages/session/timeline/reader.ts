import { type HTMLAttributes, type UIEvent, useRef } from 'react';
import type { Follow } from './follow';

/** What a list that follows its end hears of its reader: handlers for the element that scrolls. */
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
    // Only the bar of the list is the list itself; a click on a row is not about scrolling.
    onPointerDown: (event) => {
      if (event.target === event.currentTarget) follow.step({ type: 'taken' });
    },
    onScroll: (event: UIEvent<HTMLDivElement>) => {
      if (event.target !== event.currentTarget) return;
      const { scrollTop: top, scrollHeight, clientHeight } = event.currentTarget;
      follow.step({ type: 'scrolled', top, max: scrollHeight - clientHeight, total });
      // A block that is higher than a step is drawn in parts, also while the same rows are in view.
      scrolledTo?.(top);
    },
    onWheel: (event) => {
      if (event.deltaY === 0 || event.ctrlKey) return;
      if (event.deltaY > 0) {
        pushed(event.currentTarget);
        return;
      }
      // A pane that still has something above takes the wheel for itself.
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
