/**
 * Virtualizes the rows of the list: it mounts those in view, a few around them, and the selected one. The list scrolls
 * with the page, so the content above it counts as its margin.
 */
import { defaultRangeExtractor, type Range, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';
import { useMedia } from '@/ui/media';

/** The estimated height of a row before it is rendered: a line on a wide screen, a card on a narrow one. */
const lineHeight = 57;
const cardHeight = 132;
/** The gap between cards. */
const cardGap = 8;

/** The last measured heights, so that every row is in its place when the user returns from a session. */
const remembered: { sizes: VirtualItem[] } = { sizes: [] };

export function useRows(list: RefObject<HTMLElement | null>, ids: readonly string[], keptId: string) {
  const lines = useMedia('(min-width: 48rem)');
  const margin = useOffset(list);
  const kept = ids.indexOf(keptId);
  const virtual = useVirtualizer({
    count: ids.length,
    getScrollElement: () => list.current?.closest('main') ?? null,
    estimateSize: () => (lines ? lineHeight : cardHeight),
    // The function keeps its identity while the rows are the same: a new one would re-measure every row.
    getItemKey: useCallback((index: number) => ids[index] ?? index, [ids]),
    gap: lines ? 0 : cardGap,
    overscan: 8,
    scrollMargin: margin,
    initialMeasurementsCache: remembered.sizes,
    rangeExtractor: useCallback((range: Range) => withRow(defaultRangeExtractor(range), kept), [kept]),
  });
  useLayoutEffect(
    () => () => {
      remembered.sizes = virtual.takeSnapshot();
    },
    [virtual],
  );
  return { virtual, margin };
}

/** Returns the rows to render, in order. */
export function withRow(drawn: readonly number[], kept: number): number[] {
  if (kept < 0 || drawn.includes(kept)) return [...drawn];
  return [...drawn, kept].sort((a, b) => a - b);
}

/**
 * Returns the distance from the start of the scrolling element to an element, updated when content above it changes its
 * height.
 */
function useOffset(element: RefObject<HTMLElement | null>): number {
  const [offset, setOffset] = useState(0);
  useLayoutEffect(() => {
    const main = element.current?.closest('main');
    if (!element.current || !main) return;
    const measure = () => {
      if (!element.current) return;
      const top = element.current.getBoundingClientRect().top - main.getBoundingClientRect().top;
      setOffset(Math.round(top + main.scrollTop));
    };
    measure();
    const observer = new ResizeObserver(measure);
    for (const part of [main, ...main.children]) observer.observe(part);
    return () => observer.disconnect();
  }, [element]);
  return offset;
}
