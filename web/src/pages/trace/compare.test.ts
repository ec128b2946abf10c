import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Call } from './calls';
import { align, chosen, sameJson, stepKey } from './compare';
import { mcp, trace } from './fixture';

describe('comparing two executions', () => {
  const tool = (id: string, tool_name: string): Call => ({ kind: 'mcp', item: mcp(id, 0, 1, { tool_name }) });
  const paired = (left: Call[], right: Call[]) =>
    align(left, right).map((pair) => [pair.left?.item.id, pair.right?.item.id]);

  test('a step that only one has does not shift the following steps', () => {
    const left = [tool('1', 'a'), tool('2', 'b'), tool('3', 'c')];
    const right = [tool('4', 'a'), tool('5', 'c')];
    expect(paired(left, right)).toEqual([
      ['1', '4'],
      ['2', undefined],
      ['3', '5'],
    ]);
  });

  test('different steps at the same place are side by side', () => {
    expect(paired([tool('1', 'a'), tool('2', 'b')], [tool('3', 'x'), tool('4', 'b')])).toEqual([
      ['1', '3'],
      ['2', '4'],
    ]);
  });

  test('every step of both appears once, in order', () => {
    const steps = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 });
    fc.assert(
      fc.property(steps, steps, (one, other) => {
        const left = one.map((name, n) => tool(`l${n}`, name));
        const right = other.map((name, n) => tool(`r${n}`, name));
        const pairs = align(left, right);
        expect(pairs.flatMap((pair) => pair.left ?? [])).toEqual(left);
        expect(pairs.flatMap((pair) => pair.right ?? [])).toEqual(right);
        // Equal steps are paired, even if they are shifted.
        const same = pairs.filter((pair) => pair.left && pair.right && stepKey(pair.left) === stepKey(pair.right));
        if (one.join() === other.join()) expect(same).toHaveLength(one.length);
      }),
    );
  });

  test('arguments are equal regardless of key order', () => {
    expect(sameJson({ a: 1, b: { c: [1, 2], d: null } }, { b: { d: null, c: [1, 2] }, a: 1 })).toBe(true);
    expect(sameJson({ a: [1, 2] }, { a: [2, 1] })).toBe(false);
    expect(sameJson(undefined, {})).toBe(false);
  });

  test('the executions in the address are compared if they share a stage', () => {
    const pair = (left?: string, right?: string) => {
      const found = chosen(trace, left, right);
      return found && [found.left.execution_id, found.right.execution_id];
    };
    expect(pair('b', 'c')).toEqual(['b', 'c']);
    expect(pair('c', 'b')).toEqual(['c', 'b']);
    expect(pair('b', 'b')).toEqual(['b', 'c']);
    expect(pair('b')).toEqual(['b', 'c']);
    expect(pair(undefined, 'b')).toEqual(['c', 'b']);
    expect(pair('c', 'a')).toEqual(['c', 'b']);
    expect(pair('a', 'x')).toBeUndefined();
    expect(pair()).toBeUndefined();
  });
});
