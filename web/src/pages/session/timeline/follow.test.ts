import { describe, expect, test } from 'vitest';
import { Follow, type FollowInput, type FollowState, follow, newRows, startFollow } from './follow';

const scrolled = (top: number, max: number, total = 10): FollowInput => ({ type: 'scrolled', top, max, total });
const run = (state: FollowState, ...inputs: FollowInput[]) => inputs.reduce(follow, state);
const atEnd = run(startFollow(true, 10), scrolled(1000, 1000));

describe('follow', () => {
  test('continues while the list grows and is scrolled to its end', () => {
    expect(run(atEnd, scrolled(1100, 1100), scrolled(1180, 1200)).following).toBe(true);
  });

  test('continues when content above shrinks', () => {
    expect(run(atEnd, scrolled(800, 800)).following).toBe(true);
  });

  test('continues when content shrinks and grows before the scroll event', () => {
    expect(run(atEnd, { type: 'pinned', top: 800 }, scrolled(800, 1200)).following).toBe(true);
  });

  test('stops at the smallest scroll up', () => {
    expect(run(atEnd, scrolled(990, 1000)).following).toBe(false);
    expect(run(atEnd, scrolled(400, 1000)).following).toBe(false);
  });

  test('stops at the first wheel or touch event, before the list moves', () => {
    expect(run(atEnd, { type: 'pulled', top: 1000, total: 10 }).following).toBe(false);
  });

  test('does not stop at the top of the list', () => {
    expect(run(startFollow(true, 10), { type: 'pulled', top: 0, total: 10 }).following).toBe(true);
  });

  test('does not resume after a small scroll up', () => {
    const pulled = run(atEnd, { type: 'pulled', top: 1000, total: 10 });
    expect(run(pulled, scrolled(998, 1000), scrolled(985, 1000)).following).toBe(false);
  });

  test('does not resume when the list shrinks without moving', () => {
    const pulled = run(atEnd, scrolled(900, 1000));
    expect(run(pulled, scrolled(900, 930)).following).toBe(false);
  });

  test('does not resume when the list grows below the reader', () => {
    expect(run(atEnd, scrolled(500, 1000), scrolled(500, 1500), scrolled(520, 1500)).following).toBe(false);
  });

  test('resumes when the reader scrolls near the end', () => {
    const away = run(atEnd, scrolled(500, 1000));
    expect(run(away, scrolled(950, 1000)).following).toBe(false);
    expect(run(away, scrolled(961, 1000)).following).toBe(true);
  });

  test('resumes when the reader jumps to the end, and stops at a link', () => {
    const away = run(atEnd, scrolled(500, 1000));
    expect(run(away, { type: 'jumped' }).following).toBe(true);
    expect(run(atEnd, { type: 'left', total: 10 }).following).toBe(false);
  });
});

describe('a reader moved near the end by a link', () => {
  const moved = run(startFollow(false, 10), { type: 'left', total: 10 }, scrolled(990, 1000));

  test('stays there when the list grows', () => {
    expect(moved.following).toBe(false);
    expect(run(moved, scrolled(1000, 1010)).following).toBe(false);
  });

  test('follows after scrolling down, even at the very end', () => {
    expect(run(moved, { type: 'pushed', top: 1000, max: 1000 }).following).toBe(true);
    const pushed = run(moved, { type: 'pushed', top: 900, max: 1000 });
    expect(run(pushed, scrolled(990, 1000), scrolled(995, 1000)).following).toBe(true);
  });

  test('follows after dragging the scroll bar to the end', () => {
    expect(run(moved, { type: 'taken' }, scrolled(995, 1000)).following).toBe(true);
  });
});

describe('newRows', () => {
  test('counts rows added since the reader left the end', () => {
    const away = run(atEnd, scrolled(500, 1000, 10), scrolled(400, 1000, 12));
    expect(newRows(away, 15)).toBe(5);
    expect(newRows(run(away, { type: 'jumped' }), 15)).toBe(0);
  });

  test('counts from the last time the reader left the end', () => {
    const again = run(atEnd, scrolled(500, 1000, 10), scrolled(1500, 1500, 15), scrolled(900, 1500, 16));
    expect(newRows(again, 17)).toBe(1);
  });
});

test('Follow notifies its listeners only about visible changes', () => {
  const state = new Follow(true, 10);
  let calls = 0;
  state.subscribe(() => {
    calls++;
  });
  state.step(scrolled(1000, 1000));
  state.step(scrolled(1100, 1100));
  expect(calls).toBe(0);
  state.step(scrolled(500, 1100));
  state.step(scrolled(400, 1100));
  expect(calls).toBe(1);
  expect(state.following).toBe(false);
});
