/** How long each file of tests took last, and how often it failed. The order of the next run depends on it. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface FileRecord {
  /** What the file took when all of its tests last ran and passed, in milliseconds. */
  took?: number;
  /** Runs in which a test of it failed, or passed only the second time. Each counts for less with every run after it. */
  failures: number;
}

export type History = Record<string, FileRecord>;

/** Beside what else is kept from run to run; it is not committed. */
const usualPlace = path.resolve(import.meta.dirname, '../../../.cache/web-tests.json');

/** What one run is worth after another one. */
const decay = 0.8;

export function readHistory(place = usualPlace): History {
  try {
    return JSON.parse(readFileSync(place, 'utf8')) as History;
  } catch {
    return {}; // the first run, or a file that a run left half written
  }
}

/** Adds a run: what each file took, if all of its tests ran, and whether it failed. */
export function remember(run: Record<string, { took?: number; failed: boolean }>, place = usualPlace): void {
  const history = readHistory(place);
  for (const [file, { took, failed }] of Object.entries(run)) {
    const before = history[file];
    const failures = (before?.failures ?? 0) * decay + (failed ? 1 : 0);
    const known = took ?? before?.took;
    history[file] = {
      ...(known === undefined ? {} : { took: Math.round(known) }),
      failures: failures < 0.1 ? 0 : Number(failures.toFixed(2)),
    };
  }
  mkdirSync(path.dirname(place), { recursive: true });
  writeFileSync(place, `${JSON.stringify(history, null, 2)}\n`);
}

/**
 * Orders files: those that failed lately come first, since their result is what somebody waits for, then the longest, so that no
 * worker is left alone with one of them at the end. The size of a file stands for a time that is not known.
 */
export function inOrder<T>(files: readonly T[], nameOf: (file: T) => string, history: History, sizeOf = size): T[] {
  const known = files.map(nameOf).filter((name) => history[name]?.took !== undefined);
  const sum = (of: (name: string) => number) => known.reduce((total, name) => total + of(name), 0);
  const perByte = known.length === 0 ? 1 : sum((name) => history[name]?.took ?? 0) / Math.max(1, sum(sizeOf));
  const estimate = (name: string) => history[name]?.took ?? sizeOf(name) * perByte;
  const failures = (name: string) => history[name]?.failures ?? 0;
  return files.toSorted((a, b) => {
    const [one, other] = [nameOf(a), nameOf(b)];
    return failures(other) - failures(one) || estimate(other) - estimate(one) || one.localeCompare(other);
  });
}

function size(file: string): number {
  return statSync(path.resolve(import.meta.dirname, '../..', file)).size;
}
