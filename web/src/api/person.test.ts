import { describe, expect, test } from 'vitest';
import { isMe, ownFeedback } from './person';

describe('the caller', () => {
  const ana = { name: 'Ana', id: 'key-1' };

  test('is told from others of the same name', () => {
    expect(isMe(ana, 'Ana', 'key-1')).toBe(true);
    expect(isMe(ana, 'Ana', 'key-2')).toBe(false);
    expect(isMe(undefined, 'Ana', 'key-1')).toBe(false);
  });

  test('is the same under another name', () => {
    expect(isMe(ana, 'Anna', 'key-1')).toBe(true);
  });

  test('is the name where there is no identity', () => {
    expect(isMe(ana, 'Ana', '')).toBe(true);
    expect(isMe(ana, 'Bob', '')).toBe(false);
    expect(isMe({ name: 'Ana', id: '' }, 'Ana', 'key-2')).toBe(true);
    expect(isMe({ name: '', id: '' }, 'Ana', '')).toBe(false);
  });

  test('has the feedback of the identity before that of the name', () => {
    const old = { author: 'Ana', author_id: '' };
    const own = { author: 'Ana (2)', author_id: 'key-1' };
    const other = { author: 'Ana (3)', author_id: 'key-2' };
    expect(ownFeedback(ana, [old, other, own])).toBe(own);
    expect(ownFeedback(ana, [other, old])).toBe(old);
    expect(ownFeedback(ana, [other])).toBeUndefined();
    expect(ownFeedback(ana)).toBeUndefined();
  });
});
