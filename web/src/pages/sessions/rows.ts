/**
 * Which rows of the list are in the page: those in sight, a few around them, and the one the keyboard is at. The list scrolls with
 * the page, so what stands above it counts as its margin.
 */
import { defaultRangeExtractor, type Range, useVirtualizer, type VirtualItem } from '@tanstack/react-virtual';
import { type RefObject, useCallback, useLayoutEffect, useState } from 'react';
import { useMedia } from '@/ui/media';

/** About how high a row is before it is drawn: a line on a wide screen, a card on a narrow one. */
const lineHeight = 80;
const cardHeight = 132;
/** The space between cards. */
const cardGap = 8;

/** The heights that were measured last, so that coming back from a session finds every row where it was. */
const remembered: { sizes: VirtualItem[] } = { sizes: [] };

export function useRows(list: RefObject<HTMLElement | null>, ids: readonly string[], keptId: string) {
  const lines = useMedia('(min-width: 48rem)');
  const margin = useOffset(list);
  const kept = ids.indexOf(keptId);
  const virtual = useVirtualizer({
    count: ids.length,
    getScrollElement: () => list.current?.closest('main') ?? null,
    estimateSize: () => (lines ? lineHeight : cardHeight),
    // The same function while the rows are the same: with a new one every row is measured again.
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

/** The rows to draw, in their order. */
export function withRow(drawn: readonly number[], kept: number): number[] {
  if (kept < 0 || drawn.includes(kept)) return [...drawn];
  return [...drawn, kept].sort((a, b) => a - b);
}

/** How far below the start of what scrolls an element begins, also after something above it has changed its height. */
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
