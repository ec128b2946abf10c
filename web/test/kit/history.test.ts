import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { inOrder, readHistory, remember, usualHistory } from './history';

const sizes: Record<string, number> = { small: 10, large: 100, known: 50, failing: 1 };
const order = (names: string[], history: Parameters<typeof inOrder>[2]) =>
  inOrder(
    names,
    (name) => name,
    history,
    (name) => sizes[name] ?? 0,
  );

test('without a history the largest file comes first', () => {
  expect(order(['small', 'large'], {})).toEqual(['large', 'small']);
});

test('a file without a record is placed by its size among those with one', () => {
  // 50 bytes took 5 seconds, so 100 bytes are estimated at 10 seconds, and 10 bytes at one.
  const history = { known: { took: 5000, failures: 0 } };
  expect(order(['small', 'known', 'large'], history)).toEqual(['large', 'known', 'small']);
});

test('the usual durations are those of existing files', () => {
  const names = Object.keys(usualHistory());
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !existsSync(path.resolve(import.meta.dirname, '../..', name)))).toEqual([]);
});

test('files that failed come first, the one that failed most before the others', () => {
  const history = {
    failing: { took: 1, failures: 2 },
    small: { took: 1, failures: 0.5 },
    large: { took: 9, failures: 0 },
  };
  expect(order(['large', 'small', 'failing'], history)).toEqual(['failing', 'small', 'large']);
});

test('a failure counts for less with every run after it, and a broken record is an empty one', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'tarsy-history-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const place = path.join(directory, 'deeper', 'history.json');
  remember({ a: { took: 1000, failed: false }, b: { failed: true } }, place);
  remember({ a: { failed: true }, b: { took: 500, failed: false } }, place);
  expect(readHistory(place)).toEqual({ a: { took: 1000, failures: 1 }, b: { took: 500, failures: 0.8 } });
  for (let n = 0; n < 11; n++) remember({ a: { failed: false } }, place);
  expect(readHistory(place).a).toEqual({ took: 1000, failures: 0 });
  writeFileSync(place, '{');
  expect(readHistory(place)).toEqual({});
});
