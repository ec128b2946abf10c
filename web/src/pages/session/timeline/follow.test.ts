import { describe, expect, test } from 'vitest';
import { Follow, type FollowInput, type FollowState, follow, newRows, startFollow } from './follow';

const scrolled = (top: number, max: number, total = 10): FollowInput => ({ type: 'scrolled', top, max, total });
const run = (state: FollowState, ...inputs: FollowInput[]) => inputs.reduce(follow, state);
const atEnd = run(startFollow(true, 10), scrolled(1000, 1000));

describe('follow', () => {
  test('goes on while the list grows and is moved to its end', () => {
    expect(run(atEnd, scrolled(1100, 1100), scrolled(1180, 1200)).following).toBe(true);
  });

  test('goes on when contents above became shorter', () => {
    expect(run(atEnd, scrolled(800, 800)).following).toBe(true);
  });

  test('goes on when contents became shorter and longer again before the list was notified', () => {
    expect(run(atEnd, { type: 'pinned', top: 800 }, scrolled(800, 1200)).following).toBe(true);
  });

  test('stops when the reader scrolls up, be it ever so little', () => {
    expect(run(atEnd, scrolled(990, 1000)).following).toBe(false);
    expect(run(atEnd, scrolled(400, 1000)).following).toBe(false);
  });

  test('stops at the first pull of a wheel or finger, before the list has moved', () => {
    expect(run(atEnd, { type: 'pulled', top: 1000, total: 10 }).following).toBe(false);
  });

  test('does not stop where there is nothing above', () => {
    expect(run(startFollow(true, 10), { type: 'pulled', top: 0, total: 10 }).following).toBe(true);
  });

  test('a pull is not undone by the small way that it has gone', () => {
    const pulled = run(atEnd, { type: 'pulled', top: 1000, total: 10 });
    expect(run(pulled, scrolled(998, 1000), scrolled(985, 1000)).following).toBe(false);
  });

  test('a pull is not undone by a list that becomes shorter and does not move', () => {
    const pulled = run(atEnd, scrolled(900, 1000));
    expect(run(pulled, scrolled(900, 930)).following).toBe(false);
  });

  test('growth below a reader who left does not take them along', () => {
    expect(run(atEnd, scrolled(500, 1000), scrolled(500, 1500), scrolled(520, 1500)).following).toBe(false);
  });

  test('begins again when the reader comes near the end by themselves', () => {
    const away = run(atEnd, scrolled(500, 1000));
    expect(run(away, scrolled(950, 1000)).following).toBe(false);
    expect(run(away, scrolled(961, 1000)).following).toBe(true);
  });

  test('begins again when they ask for it, and stops when a link leads elsewhere', () => {
    const away = run(atEnd, scrolled(500, 1000));
    expect(run(away, { type: 'jumped' }).following).toBe(true);
    expect(run(atEnd, { type: 'left', total: 10 }).following).toBe(false);
  });
});

describe('a reader who was led near the end', () => {
  const led = run(startFollow(false, 10), { type: 'left', total: 10 }, scrolled(990, 1000));

  test('is left there when the list grows', () => {
    expect(led.following).toBe(false);
    expect(run(led, scrolled(1000, 1010)).following).toBe(false);
  });

  test('follows when they push on, also where nothing can move', () => {
    expect(run(led, { type: 'pushed', top: 1000, max: 1000 }).following).toBe(true);
    expect(run(led, { type: 'pushed', top: 900, max: 1000 }, scrolled(990, 1000), scrolled(995, 1000)).following).toBe(
      true,
    );
  });

  test('follows when they bring the list to its end by its bar', () => {
    expect(run(led, { type: 'taken' }, scrolled(995, 1000)).following).toBe(true);
  });
});

describe('newRows', () => {
  test('counts what came since the reader left', () => {
    const away = run(atEnd, scrolled(500, 1000, 10), scrolled(400, 1000, 12));
    expect(newRows(away, 15)).toBe(5);
    expect(newRows(run(away, { type: 'jumped' }), 15)).toBe(0);
  });

  test('counts from the last time they left', () => {
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
