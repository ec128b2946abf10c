import { describe, expect, it } from 'vitest';
import type { Entity, ReviewItem } from '@/api/types';
import { changeOf, titleOf } from './change';
import { afterDecision, minutesLeft, stepped } from './queue';

const entity = (parts: Partial<Entity> = {}): Entity =>
  ({
    id: 'e1',
    type: 'task',
    title: 'Bound the cache',
    content: '',
    owner: 'Ada',
    due_on: '2026-11-20',
    tags: ['cache', 'memory'],
    sources: [],
    project_id: null,
    epic_id: null,
    ...parts,
  }) as Entity;

const item = (parts: Partial<ReviewItem>): ReviewItem =>
  ({
    id: 'r1',
    kind: 'entity',
    status: 'open',
    project_id: null,
    proposal: {},
    entity: entity(),
    other: null,
    note: null,
    projects: [
      { id: 'p1', name: 'Shop' },
      { id: 'p2', name: 'Billing' },
    ],
    epics: [{ id: 'x1', name: 'Memory' }],
    entities: [],
    decisions: [],
    ...parts,
  }) as ReviewItem;

describe('the proposed change', () => {
  it('of an entity lists all its fields', () => {
    expect(changeOf(item({})).fields).toEqual([
      { name: 'Type', before: '', after: 'Task' },
      { name: 'Title', before: '', after: 'Bound the cache' },
      { name: 'Owner', before: '', after: 'Ada' },
      { name: 'Due', before: '', after: expect.stringContaining('20') },
      { name: 'Tags', before: '', after: 'cache, memory' },
    ]);
  });

  it('of an assignment shows project and epic by name', () => {
    const filed = item({
      kind: 'assignment',
      entity: entity({ project_id: 'p1' }),
      proposal: { assign_project_id: 'p2', assign_epic_id: 'x1' },
    });
    expect(changeOf(filed).fields).toEqual([
      { name: 'Project', before: 'Shop', after: 'Billing' },
      { name: 'Epic', before: '', after: 'Memory' },
    ]);
    // A deleted project is shown by its id.
    const gone = item({ kind: 'assignment', proposal: { assign_project_id: 'p9' } });
    expect(changeOf(gone).fields).toEqual([{ name: 'Project', before: '', after: 'p9' }]);
  });

  it('of a duplicate compares both entities, including equal fields', () => {
    const twice = item({
      kind: 'duplicate',
      other: entity({ id: 'e2', title: 'Limit the cache', owner: '', project_id: 'p1' }),
    });
    expect(changeOf(twice).fields).toEqual([
      { name: 'Type', before: 'Task', after: 'Task' },
      { name: 'Title', before: 'Bound the cache', after: 'Limit the cache' },
      { name: 'Owner', before: 'Ada', after: '' },
      { name: 'Due', before: expect.any(String), after: expect.any(String) },
      { name: 'Tags', before: 'cache, memory', after: 'cache, memory' },
      { name: 'Project', before: '', after: 'Shop' },
    ]);
  });

  it('of an epic shows its name, description and items', () => {
    const epic = item({
      kind: 'epic',
      entity: null,
      project_id: 'p1',
      proposal: { epic_name: 'Memory', epic_description: 'Bounds', entity_ids: ['e1'] },
      entities: [entity()],
    });
    expect(titleOf(epic)).toBe('Memory');
    expect(changeOf(epic)).toMatchObject({
      summary: 'Accepting creates the epic in Shop and files 1 item under it.',
      fields: [
        { name: 'Epic', before: '', after: 'Memory' },
        { name: 'Description', before: '', after: 'Bounds' },
        { name: 'Items', before: '', after: 'Bound the cache' },
      ],
    });
  });
});

describe('the queue', () => {
  it('continues with the next item, or the previous one at the end', () => {
    expect(afterDecision(['a', 'b', 'c'], 'a')).toBe('b');
    expect(afterDecision(['a', 'b', 'c'], 'c')).toBe('b');
    expect(afterDecision(['a'], 'a')).toBeUndefined();
    // The item is on another page of the list, or someone else decided it.
    expect(afterDecision(['a', 'b'], 'z')).toBe('a');
  });

  it('is navigated with j and k without wrapping around', () => {
    expect(stepped(['a', 'b'], 'a', 1)).toBe('b');
    expect(stepped(['a', 'b'], 'b', 1)).toBe('b');
    expect(stepped(['a', 'b'], 'a', -1)).toBe('a');
    expect(stepped(['a', 'b'], undefined, 1)).toBe('a');
    expect(stepped([], 'a', 1)).toBeUndefined();
  });

  it('allows undo for an hour', () => {
    const now = new Date('2026-11-16T10:00:00Z');
    expect(minutesLeft('2026-11-16T09:30:00Z', now)).toBe(30);
    expect(minutesLeft('2026-11-16T09:00:30Z', now)).toBe(1);
    expect(minutesLeft('2026-11-16T09:00:00Z', now)).toBe(0);
  });
});
