import { type RefObject, useEffect, useState } from 'react';

/**
 * Reports whether an element is in the viewport, or within `ahead` pixels of it. Returns `before` until the browser has
 * reported, and while the element does not exist (`there`).
 */
export function useInView(
  element: RefObject<Element | null>,
  { before, ahead = 0, there = true }: { before: boolean; ahead?: number; there?: boolean },
): boolean {
  const [inView, setInView] = useState(before);
  useEffect(() => {
    if (!there || element.current === null) return;
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)?.isIntersecting ?? before), {
      root: element.current.closest('main'),
      rootMargin: `${ahead}px`,
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, before, ahead, there]);
  return inView;
}
