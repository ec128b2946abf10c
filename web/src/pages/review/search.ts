/** The state of the Review page in its address. */
import type { ReviewItem } from '@/api/types';

export const kinds = ['entity', 'assignment', 'duplicate', 'epic'] as const satisfies readonly ReviewItem['kind'][];

export interface ReviewPageSearch {
  kind?: ReviewItem['kind'];
  /** The selected item; defaults to the first open one. */
  item?: string;
  /** Defaults to one item at a time. */
  mode?: 'bulk';
}

/** Reads the state from the page's address; unknown values are ignored. */
export function readReviewSearch(search: Record<string, unknown>): ReviewPageSearch {
  return {
    kind: kinds.find((kind) => kind === search.kind),
    item: typeof search.item === 'string' && search.item !== '' ? search.item : undefined,
    mode: search.mode === 'bulk' ? 'bulk' : undefined,
  };
}
