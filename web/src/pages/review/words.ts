/** Kinds and decisions, as people read them. */
import type { ReviewDecision, ReviewItem } from '@/api/types';

export const kindLabels: Record<ReviewItem['kind'], string> = {
  entity: 'Uncertain item',
  assignment: 'Filing',
  duplicate: 'Likely duplicate',
  epic: 'New epic',
};

/** What must be decided, as a question. */
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

/** The decisions that make sense for an item. Two entities that are likely the same are merged or kept, not accepted as they are. */
export function decisionsFor(kind: ReviewItem['kind']): readonly Decision[] {
  return kind === 'duplicate' ? ['merge', 'reject'] : ['accept', 'edit', 'reject'];
}
