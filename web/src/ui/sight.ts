import { type RefObject, useEffect, useState } from 'react';

/**
 * Whether an element is in sight, or `ahead` pixels away from it. `before` holds until the browser has reported, and while
 * there is no such element yet (`there`).
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
