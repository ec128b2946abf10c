/**
 * One scrolling list of the timeline: a virtualizer that follows its end, keeps what is read in its place, and is walked
 * with the keyboard. The main list and each pane use it alike.
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

/** Far below any end: where a list starts that follows. The browser makes the real end of it. */
const beyond = 1e9;

interface ListOptions {
  count: number;
  keyOf(index: number): string;
  /** The height of a row that was not measured yet; exact for folded ones. */
  estimate(index: number): number;
  follow: Follow;
  /** How many rows a reader who left the end can have missed. */
  total: number;
  folding: Folding;
  /** Where a list starts that does not follow. */
  startAt: () => number;
  sizes?: Size[];
  /** Rows that stay in the document, wherever the reader is. */
  keep: readonly number[];
  /** What the first row begins with. Something else there moves what is below it, of the row itself too. */
  lead?: string;
}

interface List {
  scroller: RefObject<HTMLDivElement | null>;
  virtualizer: ReactVirtualizer<HTMLDivElement, HTMLElement>;
  /** For the element that scrolls. */
  props: HTMLAttributes<HTMLDivElement>;
  /** How wide the list is; 0 before it is known. */
  width: number;
  following: boolean;
  missed: number;
  jump(): void;
  /** Reports that a row has another height now, before it is painted. */
  resized(row: HTMLElement): void;
}

/** The rows to draw: those in view, a few around them, and those that stay. */
export function withKept(range: Range, keep: readonly number[]): number[] {
  const drawn = defaultRangeExtractor(range);
  const first = drawn[0] ?? 0;
  const last = drawn.at(-1) ?? -1;
  const kept = keep.filter((index) => index >= 0 && index < range.count && (index < first || index > last));
  return kept.length === 0 ? drawn : [...new Set([...kept, ...drawn])].sort((a, b) => a - b);
}

/** The rows of row.tsx and group-row.tsx say whether they are. */
const isFolded = (row: HTMLElement) => row.dataset.open === 'false';

export function useList(options: ListOptions): List {
  const { count, keyOf, estimate, follow, folding, keep, total } = options;
  const scroller = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [, setStep] = useState(0);

  const readEnd = useCallback(() => {
    const element = scroller.current;
    if (!element || !follow.following) return undefined;
    const end = element.scrollHeight - element.clientHeight;
    const top = element.scrollTop;
    const away = end - top > 0.5;
    return () => {
      if (away) element.scrollTop = end;
      // The browser may stop a fraction before it; reading where would lay out the page again.
      follow.step({ type: 'pinned', top: away ? end - 1 : top });
    };
  }, [follow]);
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
    // Asking the browser for the height of each new row would lay out the page as often. Folded rows have only one.
    measureElement: (row, entry, instance) =>
      entry === undefined && isFolded(row) ? foldedHeight : measureElement(row, entry, instance),
    rangeExtractor: useCallback((range: Range) => withKept(range, keep), [keep]),
    observeElementRect: (instance, report) =>
      observeElementRect(instance, (rect) => {
        report(rect);
        setWidth(rect.width);
        pin();
      }),
    // Rows are moved in the same frame in which one of them grew: through React they would overlap for a frame.
    directDomUpdates: true,
    directDomUpdatesMode: 'position',
    onChange: pin,
  });
  const lead = useRef(options.lead);
  // What lies wholly above the reader moves the list with it, whichever way they go.
  virtualizer.shouldAdjustScrollPositionOnItemSizeChange = (item, _delta, instance) => {
    const offset = instance.scrollOffset ?? 0;
    if (item.index === 0 && lead.current !== options.lead) {
      lead.current = options.lead;
      return offset > 0;
    }
    return instance.itemSizeCache.has(item.key) ? item.end <= offset : item.start < offset;
  };

  useLayoutEffect(pin);

  // Rows that are not on screen keep the height they had; after "open all" that is wrong for all of them.
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
