/** Where the servers of scenarios have their files. */
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * Where Linux offers files in memory. Each server gets a copy of a database, and to write one to a disk takes as much CPU time
 * as to load a page.
 */
const memory = '/dev/shm';
/** Far more than the servers that run at once take. */
const needed = 4 * 2 ** 30;

/** Makes a directory with a name that begins so: in memory if there is plenty, else where other temporary files are. */
export function makeDirectory(prefix: string): string {
  const directory = mkdtempSync(path.join(freeBytes(memory) >= needed ? memory : tmpdir(), prefix));
  // Root lends its PostgreSQL to another user, who must be able to come in.
  chmodSync(directory, 0o755);
  return directory;
}

function freeBytes(place: string): number {
  try {
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize;
  } catch {
    return 0; // a system without it
  }
}
