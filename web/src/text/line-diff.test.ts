import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { lineDiff } from './line-diff';

const lines = fc.array(fc.constantFrom('a', 'b', 'c', ''), { minLength: 1 });

describe('lineDiff', () => {
  test('marks removed and added lines and keeps the others', () => {
    expect(lineDiff('{\n  a\n  b\n}', '{\n  a\n  c\n}')).toEqual([
      { kind: 'same', text: '{' },
      { kind: 'same', text: '  a' },
      { kind: 'removed', text: '  b' },
      { kind: 'added', text: '  c' },
      { kind: 'same', text: '}' },
    ]);
  });

  test('contains both texts', () => {
    fc.assert(
      fc.property(lines, lines, (left, right) => {
        const diff = lineDiff(left.join('\n'), right.join('\n'));
        expect(diff.filter(({ kind }) => kind !== 'added').map(({ text }) => text)).toEqual(left);
        expect(diff.filter(({ kind }) => kind !== 'removed').map(({ text }) => text)).toEqual(right);
      }),
    );
  });
});
