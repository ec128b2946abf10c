/** How long each test file took in its last run, and how often it failed. The order of the next run depends on it. */
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export interface FileRecord {
  /** How long the file took when all its tests last ran and passed, in milliseconds. */
  took?: number;
  /**
   * The number of runs in which one of its tests failed, or passed only on the second try. Each run reduces the weight
   * of earlier ones.
   */
  failures: number;
}

export type History = Record<string, FileRecord>;

/** Stored with other data kept between runs; not committed. */
const usualPlace = path.resolve(import.meta.dirname, '../../../.cache/web-tests.json');

/** The factor by which each run reduces the weight of earlier failures. */
const decay = 0.8;

export function readHistory(place = usualPlace): History {
  try {
    return JSON.parse(readFileSync(place, 'utf8')) as History;
  } catch {
    return {}; // the first run, or a file truncated by an interrupted run
  }
}

/**
 * Returns the history to start with on a machine that has none: the durations of the longest files, as measured once.
 * Only their order matters.
 */
export function usualHistory(): History {
  const file = path.resolve(import.meta.dirname, '../durations.json');
  const took = JSON.parse(readFileSync(file, 'utf8')) as Record<string, number>;
  return Object.fromEntries(Object.entries(took).map(([name, ms]) => [name, { took: ms, failures: 0 }]));
}

/** Adds a run: how long each file took, if all its tests ran and passed, and whether it failed. */
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
 * Orders files: recently failed ones first, because their result is the one awaited, then the longest, so that no
 * worker is left with a long file at the end. An unknown duration is estimated from the file's size.
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
