/** The fields of an entity as edited in a form. */
import type { Entity } from '@/api/types';

export interface Draft {
  type: Entity['type'];
  title: string;
  content: string;
  owner: string;
  /** YYYY-MM-DD; empty for no date. */
  due_on: string;
  status: Entity['status'];
  /** Comma-separated. */
  tags: string;
  /** Empty for none. */
  project_id: string;
  epic_id: string;
}

export const emptyDraft: Draft = {
  type: 'task',
  title: '',
  content: '',
  owner: '',
  due_on: '',
  status: 'open',
  tags: '',
  project_id: '',
  epic_id: '',
};

export function draftOf(entity: Entity): Draft {
  return {
    type: entity.type,
    title: entity.title,
    content: entity.content,
    owner: entity.owner,
    due_on: entity.due_on ?? '',
    status: entity.status,
    tags: entity.tags.join(', '),
    project_id: entity.project_id ?? '',
    epic_id: entity.epic_id ?? '',
  };
}

/** Returns the request body, with every field of the draft. */
export function inputOf(draft: Draft) {
  return { ...draft, title: draft.title.trim(), tags: tagsOf(draft.tags) };
}

type Input = ReturnType<typeof inputOf>;

/** Returns only the fields that differ between two drafts, so that concurrent changes to other fields are kept. */
export function changesOf(before: Draft, after: Draft): Partial<Input> {
  const input = inputOf(after);
  const old = inputOf(before);
  const changed = (key: keyof Input) => JSON.stringify(input[key]) !== JSON.stringify(old[key]);
  return Object.fromEntries(
    (Object.keys(input) as (keyof Input)[]).filter(changed).map((key) => [key, input[key]]),
  ) as Partial<Input>;
}

/** Returns the typed tags without empty and repeated ones. */
export function tagsOf(typed: string): string[] {
  const named = typed.split(',').map((tag) => tag.trim().toLowerCase());
  return [...new Set(named.filter((tag) => tag !== ''))];
}
