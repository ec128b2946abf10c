/** The change that a review item proposes, as fields before and after. */
import type { Entity, ReviewItem } from '@/api/types';
import { typeLabel } from '@/pages/board/labels';
import { counted, dueLabel } from '@/text/format';

export interface Field {
  name: string;
  /** Empty if there is no value. */
  before: string;
  after: string;
}

export interface Change {
  /** What accepting does, in one sentence. */
  summary: string;
  /** The headings of the two sides. */
  sides: readonly [string, string];
  fields: readonly Field[];
  /** Whether the item proposes something new, so that there is no value before. */
  adds?: boolean;
}

/** Unchanged fields are listed only for duplicates, where they show the similarity. */
export function changeOf(item: ReviewItem): Change {
  switch (item.kind) {
    case 'entity':
      return {
        summary: 'Accepting adds it to the board.',
        sides: ['Now', 'Proposed'],
        fields: filled(item.entity).map(([name, after]) => ({ name, before: '', after })),
        adds: true,
      };
    case 'assignment':
      return {
        summary: 'Accepting files it here.',
        sides: ['Now', 'Proposed'],
        fields: assignment(item),
      };
    case 'duplicate':
      return {
        summary: 'Merging keeps one of the two and adds the evidence of the other to it. Rejecting keeps both.',
        sides: ['This entity', 'Likely the same'],
        fields: comparison(item),
      };
    case 'epic':
      return {
        summary: `Accepting creates the epic in ${projectName(item, item.project_id) || 'its project'} and files ${counted(item.proposal.entity_ids?.length ?? 0, 'item')} under it.`,
        sides: ['Now', 'Proposed'],
        fields: [
          { name: 'Epic', before: '', after: item.proposal.epic_name ?? '' },
          { name: 'Description', before: '', after: item.proposal.epic_description ?? '' },
          { name: 'Items', before: '', after: item.entities.map((entity) => entity.title).join('\n') },
        ].filter((field) => field.before !== field.after),
        adds: true,
      };
  }
}

/** Returns the name of the item for people: the title of its entity, or the name of the epic. */
export function titleOf(item: ReviewItem): string {
  return item.entity?.title || item.proposal.epic_name || 'Untitled';
}

/** Returns the fields of an entity as text, in reading order. */
export function fieldsOf(entity: Entity): [string, string][] {
  return [
    ['Type', typeLabel(entity.type)],
    ['Title', entity.title],
    ['Details', entity.content],
    ['Owner', entity.owner],
    ['Due', entity.due_on ? dueLabel(entity.due_on) : ''],
    ['Tags', entity.tags.join(', ')],
  ];
}

function filled(entity: Entity | null): [string, string][] {
  return entity === null ? [] : fieldsOf(entity).filter(([, value]) => value !== '');
}

function assignment(item: ReviewItem): Field[] {
  const { entity, proposal } = item;
  return [
    {
      name: 'Project',
      before: projectName(item, entity?.project_id),
      after: projectName(item, proposal.assign_project_id ?? entity?.project_id),
    },
    { name: 'Epic', before: epicName(item, entity?.epic_id), after: epicName(item, proposal.assign_epic_id) },
  ].filter((field) => field.before !== field.after);
}

function comparison({ entity, other, ...item }: ReviewItem): Field[] {
  if (entity === null || other === null) return [];
  const filed = (one: Entity): [string, string][] => [
    ...fieldsOf(one),
    ['Project', projectName(item, one.project_id)],
    ['Epic', epicName(item, one.epic_id)],
  ];
  const theirs = new Map(filed(other));
  return filed(entity)
    .map(([name, before]) => ({ name, before, after: theirs.get(name) ?? '' }))
    .filter((field) => field.before !== '' || field.after !== '');
}

type Named = Pick<ReviewItem, 'projects' | 'epics'>;

/** Returns the name of a project; its id if the server did not send the name. */
export function projectName(item: Pick<Named, 'projects'>, id: string | null | undefined): string {
  if (!id) return '';
  return item.projects.find((project) => project.id === id)?.name ?? id;
}

export function epicName(item: Pick<Named, 'epics'>, id: string | null | undefined): string {
  if (!id) return '';
  return item.epics.find((epic) => epic.id === id)?.name ?? id;
}
