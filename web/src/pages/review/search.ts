/** What the Review page shows, as its address carries it. */
import type { ReviewItem } from '@/api/types';

export const kinds = ['entity', 'assignment', 'duplicate', 'epic'] as const satisfies readonly ReviewItem['kind'][];

export interface ReviewPageSearch {
  kind?: ReviewItem['kind'];
  /** The item that is looked at; left out, the first open one. */
  item?: string;
  /** Left out, one item at a time. */
  mode?: 'bulk';
}

/** Reads the page's address; what it does not know it leaves out. */
export function readReviewSearch(search: Record<string, unknown>): ReviewPageSearch {
  return {
    kind: kinds.find((kind) => kind === search.kind),
    item: typeof search.item === 'string' && search.item !== '' ? search.item : undefined,
    mode: search.mode === 'bulk' ? 'bulk' : undefined,
  };
}
