/** Labels for kinds and decisions. */
import type { ReviewDecision, ReviewItem } from '@/api/types';

export const kindLabels: Record<ReviewItem['kind'], string> = {
  entity: 'Uncertain item',
  assignment: 'Filing',
  duplicate: 'Likely duplicate',
  epic: 'New epic',
};

/** The decision to make, as a question. */
export const questions: Record<ReviewItem['kind'], string> = {
  entity: 'Is this right?',
  assignment: 'Does it belong here?',
  duplicate: 'Are these the same?',
  epic: 'Create this epic?',
};

export const statusLabels: Record<ReviewItem['status'], string> = {
  open: 'Open',
  accepted: 'Accepted',
  edited: 'Edited and accepted',
  rejected: 'Rejected',
  merged: 'Merged',
  obsolete: 'No longer needed',
};

export type Decision = ReviewDecision['decision'];

export const done: Record<Decision, string> = {
  accept: 'Accepted',
  edit: 'Edited and accepted',
  reject: 'Rejected',
  merge: 'Merged',
};

/**
 * Returns the decisions possible for an item. Likely duplicates are merged or rejected; there is nothing to accept or
 * edit.
 */
export function decisionsFor(kind: ReviewItem['kind']): readonly Decision[] {
  return kind === 'duplicate' ? ['merge', 'reject'] : ['accept', 'edit', 'reject'];
}
