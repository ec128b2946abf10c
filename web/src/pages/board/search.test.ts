import { describe, expect, it } from 'vitest';
import { dayName, exportAddress, filterOf, isFiltered, readBoardSearch } from './search';

describe('the address of the board', () => {
  it('ignores unknown values', () => {
    expect(readBoardSearch({ type: 'bug', due: 'never', owner: ' ', project: 'p1' })).toEqual({ project: 'p1' });
    expect(readBoardSearch({ type: 'task' }).type).toBeUndefined();
    expect(readBoardSearch({ type: 'all', due: 'week' })).toMatchObject({ type: 'all', due: 'week' });
  });

  it('defaults to tasks, and computes due dates relative to today', () => {
    const today = new Date(2026, 11, 31, 15);
    expect(filterOf({}, today)).toEqual({ type: 'task' });
    expect(filterOf({ type: 'all', project: 'none', due: 'overdue' }, today)).toEqual({
      unfiled: 'true',
      due_to: '2026-12-30',
    });
    expect(filterOf({ due: 'week', project: 'p1' }, today)).toEqual({
      type: 'task',
      project_id: 'p1',
      due_from: '2026-12-31',
      due_to: '2027-01-07',
    });
    expect(dayName(new Date(2026, 0, 5))).toBe('2026-01-05');
  });

  it('counts as filtered by anything but the project, epic and entity', () => {
    expect(isFiltered({ project: 'p1', epic: 'x', entity: 'e' })).toBe(false);
    expect(isFiltered({ tag: 'cache' })).toBe(true);
  });

  it('exports what the filter shows', () => {
    expect(exportAddress('csv', { type: 'task', owner: 'Ada & Bob', tag: undefined })).toBe(
      '/api/v1/entities/export?format=csv&type=task&owner=Ada+%26+Bob',
    );
  });
});
