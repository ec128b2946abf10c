import { describe, expect, it } from 'vitest';
import { moved } from './selection';

describe('moving the selection', () => {
  const ids = ['a', 'b', 'c'];

  it('moves one row up or down and stops at the ends', () => {
    expect(moved(ids, 'a', 'next')).toBe('b');
    expect(moved(ids, 'c', 'next')).toBe('c');
    expect(moved(ids, 'b', 'previous')).toBe('a');
    expect(moved(ids, 'a', 'previous')).toBe('a');
  });

  it('moves to the first and the last row', () => {
    expect(moved(ids, 'b', 'first')).toBe('a');
    expect(moved(ids, 'b', 'last')).toBe('c');
  });

  it('starts at the first row when the selected one is gone', () => {
    expect(moved(ids, 'x', 'next')).toBe('a');
    expect(moved(ids, 'x', 'previous')).toBe('a');
  });

  it('selects nothing in an empty list', () => {
    expect(moved([], 'a', 'next')).toBe('');
    expect(moved([], '', 'last')).toBe('');
  });
});
