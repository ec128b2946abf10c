import fc from 'fast-check';
import { expect, test } from 'vitest';
import { addLabel, joinLabels, readLabel, splitLabels } from './labels';

test('a label is a trimmed name and value', () => {
  expect(readLabel(' app = web ')).toBe('app=web');
  expect(readLabel('query=a=b')).toBe('query=a=b');
  for (const text of ['', 'app', 'app=', '=web', ' = ']) expect(readLabel(text)).toBeUndefined();
});

test('a label replaces another of the same name', () => {
  expect(addLabel(['app=web', 'tier=a'], 'app=api')).toEqual(['tier=a', 'app=api']);
  expect(splitLabels('app=web,app=api')).toEqual(['app=api']);
  expect(addLabel(['application=web'], 'app=api')).toEqual(['application=web', 'app=api']);
});

test('invalid labels in an address are ignored', () => {
  expect(splitLabels('app=web,nonsense,,team=shop')).toEqual(['app=web', 'team=shop']);
  expect(splitLabels(undefined)).toEqual([]);
});

test('labels of any content survive a round trip', () => {
  const word = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => text.trim() === text && text !== '');
  const label = fc
    .tuple(
      word.filter((name) => !name.includes('=')),
      word,
    )
    .map(([name, value]) => `${name}=${value}`);
  fc.assert(
    fc.property(
      fc.uniqueArray(label, { minLength: 1, selector: (one) => one.slice(0, one.indexOf('=')) }),
      (labels) => {
        expect(splitLabels(joinLabels(labels))).toEqual(labels);
      },
    ),
  );
  expect(joinLabels([])).toBeUndefined();
});
