import { describe, expect, test } from 'vitest';
import { isMe, ownFeedback } from './person';

describe('the caller', () => {
  const ana = { name: 'Ana', id: 'key-1' };

  test('is distinguished from others with the same name', () => {
    expect(isMe(ana, 'Ana', 'key-1')).toBe(true);
    expect(isMe(ana, 'Ana', 'key-2')).toBe(false);
    expect(isMe(undefined, 'Ana', 'key-1')).toBe(false);
  });

  test('is recognized under another name', () => {
    expect(isMe(ana, 'Anna', 'key-1')).toBe(true);
  });

  test('is compared by name if there is no identity', () => {
    expect(isMe(ana, 'Ana', '')).toBe(true);
    expect(isMe(ana, 'Bob', '')).toBe(false);
    expect(isMe({ name: 'Ana', id: '' }, 'Ana', 'key-2')).toBe(true);
    expect(isMe({ name: '', id: '' }, 'Ana', '')).toBe(false);
  });

  test('finds feedback by identity first, then by name', () => {
    const old = { author: 'Ana', author_id: '' };
    const own = { author: 'Ana (2)', author_id: 'key-1' };
    const other = { author: 'Ana (3)', author_id: 'key-2' };
    expect(ownFeedback(ana, [old, other, own])).toBe(own);
    expect(ownFeedback(ana, [other, old])).toBe(old);
    expect(ownFeedback(ana, [other])).toBeUndefined();
    expect(ownFeedback(ana)).toBeUndefined();
  });
});
