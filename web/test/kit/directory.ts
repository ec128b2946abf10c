/** The directories of the scenarios' servers. */
import { chmodSync, mkdtempSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

/**
 * The in-memory file system of Linux. Each server gets a copy of a database, and writing that to disk takes as much CPU
 * time as loading a page.
 */
const memory = '/dev/shm';
/** Much more than the concurrent servers need. */
const needed = 4 * 2 ** 30;

/**
 * Creates a directory with this name prefix: in memory if there is enough space, otherwise where other temporary files
 * are.
 */
export function makeDirectory(prefix: string): string {
  const directory = mkdtempSync(path.join(freeBytes(memory) >= needed ? memory : tmpdir(), prefix));
  // Run as root, the server runs PostgreSQL as another user, who needs access.
  chmodSync(directory, 0o755);
  return directory;
}

function freeBytes(place: string): number {
  try {
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize;
  } catch {
    return 0; // the system has none
  }
}
