/**
 * A scrolling list of the timeline: a virtualizer that follows its end, keeps the rows being read in place, and
 * supports keyboard navigation. Used by the main list and by each pane.
 */
import {
  defaultRangeExtractor,
  measureElement,
  observeElementRect,
  type Range,
  type ReactVirtualizer,
  useVirtualizer,
  type VirtualItem,
} from '@tanstack/react-virtual';
import {
  type HTMLAttributes,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react';
import type { Folding } from './folding';
import { type Follow, newRows } from './follow';
import { bandStep, foldedHeight } from './height';
import { pinSoon } from './pins';
import { useReader } from './reader';

export type Size = VirtualItem;

/** An offset past any end, where a following list starts. The browser clamps it to the real end. */
const beyond = 1e9;

interface ListOptions {
  count: number;
  keyOf(index: number): string;
  /** The height of a row that is not measured yet; exact for collapsed rows. */
  estimate(index: number): number;
  follow: Follow;
  /** The number of rows that count as missed after the reader left the end. */
  total: number;
  folding: Folding;
  /** The start offset of a list that does not follow. */
  startAt: () => number;
  sizes?: Size[];
  /** Rows that stay mounted wherever the reader is. */
  keep: readonly number[];
  /**
   * Identifies the beginning of the first row. If it changes, the row grew at its top, and even its own visible part
   * moves.
   */
  lead?: string;
}

interface List {
  scroller: RefObject<HTMLDivElement | null>;
  virtualizer: ReactVirtualizer<HTMLDivElement, HTMLElement>;
  /** Props for the scrolling element. */
  props: HTMLAttributes<HTMLDivElement>;
  /** The width of the list; 0 until it is known. */
  width: number;
  following: boolean;
  missed: number;
  jump(): void;
  /** Reports that a row's height has changed, before it is painted. */
  resized(row: HTMLElement): void;
}

/** Returns the rows to render: those in view, a few around them, and those kept. */
export function withKept(range: Range, keep: readonly number[]): number[] {
  const drawn = defaultRangeExtractor(range);
  const first = drawn[0] ?? 0;
  const last = drawn.at(-1) ?? -1;
  const kept = keep.filter((index) => index >= 0 && index < range.count && (index < first || index > last));
  return kept.length === 0 ? drawn : [...new Set([...kept, ...drawn])].sort((a, b) => a - b);
}

/** Set by the rows of row.tsx and group-row.tsx. */
const isFolded = (row: HTMLElement) => row.dataset.open === 'false';

export function useList(options: ListOptions): List {
  const { count, keyOf, estimate, follow, folding, keep, total } = options;
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [, setStep] = useState(0);
  const lastEnd = useRef(0);

  const readEnd = useCallback(() => {
    const element = scroller.current;
    if (!element || !follow.following) return undefined;
    const end = element.scrollHeight - element.clientHeight;
    const top = element.scrollTop;
    const shrunk = end < lastEnd.current;
    lastEnd.current = end;
    if (!shrunk && top < follow.state().top - 1) {
      // Somebody scrolled up, and the event is still to come.
      follow.step({ type: 'scrolled', top, max: end, total });
      if (!follow.following) return undefined;
    }
    const away = end - top > 0.5;
    return () => {
      if (away) element.scrollTop = end;
      // The browser may stop a fraction of a pixel short; reading the position would force another layout.
      follow.step({ type: 'pinned', top: away ? end - 1 : top });
    };
  }, [follow, total]);
  const pin = useCallback(() => pinSoon(readEnd), [readEnd]);

  const virtualizer = useVirtualizer<HTMLDivElement, HTMLElement>({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: estimate,
    getItemKey: keyOf,
    overscan: 3,
    scrollPaddingStart: 48,
    initialOffset: () => (follow.following ? beyond : options.startAt()),
    initialMeasurementsCache: options.sizes,
    // Measuring each new row would force a layout per row. All collapsed rows have the same height.
    measureElement: (row, entry, instance) =>
      entry === undefined && isFolded(row) ? foldedHeight : measureElement(row, entry, instance),
    rangeExtractor: useCallback((range: Range) => withKept(range, keep), [keep]),
    observeElementRect: (instance, report) =>
      observeElementRect(instance, (rect) => {
        report(rect);
        setWidth(rect.width);
        pin();
      }),
    // Moves rows in the same frame in which one of them grew: through React they would overlap for a frame.
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
    onChange: pin,
  });
  const lead = useRef(options.lead);
  // When a row entirely above the viewport changes its height, the list scrolls along, in either scroll direction.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, instance) => {
    const offset = instance.scrollOffset ?? 0;
    if (item.index === 0 && lead.current !== options.lead) return offset > 0;
    return instance.itemSizeCache.has(item.key) ? item.end <= offset : item.start < offset;
  };

  // The new beginning is measured at once: later growth of the row must not move what is read there.
  useLayoutEffect(() => {
    if (lead.current === options.lead) return;
    const row = virtualizer.elementsCache.get(keyOf(0));
    if (row) virtualizer.resizeItem(0, row.offsetHeight);
    lead.current = options.lead;
  }, [virtualizer, keyOf, options.lead]);

  useLayoutEffect(pin);

  // Rows that are not mounted keep their last height; after "Expand all" it is wrong for all of them.
  useEffect(
    () =>
      folding.subscribeMany(() => {
        for (let index = 0; index < count; index++) {
          const key = keyOf(index);
          if (virtualizer.itemSizeCache.has(key) && !virtualizer.elementsCache.get(key)?.isConnected) {
            virtualizer.resizeItem(index, estimate(index));
          }
        }
      }),
    [folding, virtualizer, count, keyOf, estimate],
  );

  const following = useSyncExternalStore(follow.subscribe, () => follow.following);
  const seen = useSyncExternalStore(follow.subscribe, () => follow.state().seen);
  return {
    scroller,
    virtualizer,
    props: useReader(follow, total, (top) => setStep(Math.floor(top / bandStep))),
    width,
    following,
    missed: newRows({ ...follow.state(), following, seen }, total),
    jump: useCallback(() => {
      virtualizer.cancelScroll();
      follow.step({ type: 'jumped' });
      pin();
    }, [follow, virtualizer, pin]),
    resized: useCallback(
      (row: HTMLElement) => {
        const index = Number(row.dataset.index);
        if (Number.isInteger(index)) virtualizer.resizeItem(index, isFolded(row) ? foldedHeight : row.offsetHeight);
      },
      [virtualizer],
    ),
  };
}
