/** Labels for the types and statuses of entities. */
import { CircleHelp, Gavel, Lightbulb, type LucideIcon, ShieldAlert, SquareCheck } from 'lucide-react';
import type { Entity } from '@/api/types';

type EntityType = Entity['type'];
type EntityStatus = Entity['status'];

export const types: Record<EntityType, { label: string; many: string; icon: LucideIcon }> = {
  task: { label: 'Task', many: 'Tasks', icon: SquareCheck },
  decision: { label: 'Decision', many: 'Decisions', icon: Gavel },
  question: { label: 'Question', many: 'Questions', icon: CircleHelp },
  risk: { label: 'Risk', many: 'Risks', icon: ShieldAlert },
  insight: { label: 'Insight', many: 'Insights', icon: Lightbulb },
};

export const typeNames = Object.keys(types) as EntityType[];

export function typeLabel(type: EntityType): string {
  return types[type]?.label ?? type;
}

export const statusLabels: Record<EntityStatus, string> = {
  open: 'Open',
  in_progress: 'In progress',
  done: 'Done',
  dropped: 'Dropped',
};

/** Only entities that do not count are marked; accepted ones need no label. */
export const stateLabels: Record<Entity['state'], string> = {
  proposed: 'Proposed',
  accepted: '',
  rejected: 'Rejected',
  merged: 'Merged',
};
