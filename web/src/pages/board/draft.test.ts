import { describe, expect, it } from 'vitest';
import { changesOf, emptyDraft, inputOf, tagsOf } from './draft';

describe('the draft of an entity', () => {
  it('sends only changed fields', () => {
    const before = { ...emptyDraft, title: 'Bound the cache', tags: 'cache, memory', due_on: '2026-11-20' };
    expect(changesOf(before, { ...before, tags: ' memory , cache,' })).toEqual({ tags: ['memory', 'cache'] });
    expect(changesOf(before, { ...before, tags: 'cache,memory' })).toEqual({});
    expect(changesOf(before, { ...before, due_on: '', owner: 'Ada' })).toEqual({ due_on: '', owner: 'Ada' });
  });

  it('has unique lower-case tags', () => {
    expect(tagsOf('Cache, ,cache,  Two words ')).toEqual(['cache', 'two words']);
    expect(inputOf({ ...emptyDraft, title: '  A title ' }).title).toBe('A title');
  });
});
