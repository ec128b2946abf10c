/** Prepares once for all scenarios a data directory with a migrated database, which each server copies. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { TestProject } from 'vitest/node';
import { makeDirectory } from './directory';
import { binary, Program } from './process';
import { noBuiltinServer } from './server';

declare module 'vitest' {
  export interface ProvidedContext {
    /** The data directory to copy; projects without this setup start with an empty one. */
    preparedData: string;
  }
}

const directory = makeDirectory('tarsy-web-data-');

export async function setup(project: TestProject): Promise<void> {
  const at = (...parts: string[]) => path.join(directory, ...parts);
  mkdirSync(at('config'));
  writeFileSync(at('config', 'tarsy.yaml'), `queue: {worker_count: 0}\nmcp_servers:\n${noBuiltinServer}\n`);
  const server = new Program(binary, [
    ...['serve', '--listen', '127.0.0.1:0', '--auth', 'off'],
    ...['--data-dir', at('data'), '--config-dir', at('config')],
  ]);
  await server.line(/listens on (http:\/\/\S+)/);
  await server.stop();
  project.provide('preparedData', at('data'));
}

export function teardown(): void {
  rmSync(directory, { recursive: true, force: true });
}
