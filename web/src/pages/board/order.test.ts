import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { columns, type Direction, type Layout, moved, neighbour, noCards, placeOf, requestOf, stepped } from './order';

const board: Layout = { open: ['a', 'b', 'c'], in_progress: ['d'], done: [], dropped: ['e', 'f'] };

describe('a move', () => {
  it('puts a card at its new place', () => {
    expect(moved(board, { id: 'b', column: 'open', index: 0 }).open).toEqual(['b', 'a', 'c']);
    expect(moved(board, { id: 'a', column: 'open', index: 2 }).open).toEqual(['b', 'c', 'a']);
    expect(moved(board, { id: 'b', column: 'dropped', index: 1 })).toEqual({
      open: ['a', 'c'],
      in_progress: ['d'],
      done: [],
      dropped: ['e', 'b', 'f'],
    });
    expect(moved(board, { id: 'b', column: 'done', index: 9 }).done).toEqual(['b']);
  });

  it('of an unknown card changes nothing', () => {
    expect(moved(board, { id: 'x', column: 'done', index: 0 })).toBe(board);
  });

  it('is requested relative to a neighbour', () => {
    expect(requestOf(board, { id: 'c', column: 'open', index: 1 })).toEqual({ status: 'open', after_id: 'a' });
    expect(requestOf(board, { id: 'c', column: 'open', index: 0 })).toEqual({ status: 'open', before_id: 'a' });
    expect(requestOf(board, { id: 'a', column: 'open', index: 2 })).toEqual({ status: 'open', after_id: 'c' });
    expect(requestOf(board, { id: 'a', column: 'done', index: 0 })).toEqual({ status: 'done' });
    expect(requestOf(board, { id: 'a', column: 'dropped', index: 9 })).toEqual({ status: 'dropped', after_id: 'f' });
  });
});

describe('a step', () => {
  it('up or down swaps with the neighbour and stops at the ends', () => {
    expect(stepped(board, 'a', 'up')).toBeUndefined();
    expect(stepped(board, 'a', 'down')).toEqual({ column: 'open', index: 1 });
    expect(stepped(board, 'c', 'down')).toBeUndefined();
    expect(stepped(board, 'c', 'up')).toEqual({ column: 'open', index: 1 });
  });

  it('sideways keeps the position, limited by the length of the column', () => {
    expect(stepped(board, 'c', 'right')).toEqual({ column: 'in_progress', index: 1 });
    expect(stepped(board, 'd', 'right')).toEqual({ column: 'done', index: 0 });
    expect(stepped(board, 'a', 'left')).toBeUndefined();
    expect(stepped(board, 'e', 'right')).toBeUndefined();
  });
});

describe('arrow keys', () => {
  it('move to the next card and skip empty columns', () => {
    expect(neighbour(board, 'a', 'down')).toBe('b');
    expect(neighbour(board, 'a', 'up')).toBeUndefined();
    expect(neighbour(board, 'c', 'right')).toBe('d');
    expect(neighbour(board, 'd', 'right')).toBe('e');
    expect(neighbour(board, 'f', 'left')).toBe('d');
    expect(neighbour(noCards, 'a', 'down')).toBeUndefined();
  });
});

it('no sequence of steps loses or duplicates a card', () => {
  const steps = fc.array(
    fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), fc.constantFrom<Direction>('up', 'down', 'left', 'right')),
    { maxLength: 20 },
  );
  fc.assert(
    fc.property(steps, (run) => {
      let layout = board;
      for (const [id, direction] of run) {
        const to = stepped(layout, id, direction);
        if (to === undefined) continue;
        layout = moved(layout, { id, ...to });
        expect(placeOf(layout, id)).toEqual(to);
      }
      expect(columns.flatMap((column) => layout[column]).sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    }),
  );
});
