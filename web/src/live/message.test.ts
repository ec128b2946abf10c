import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';

const web = path.resolve(import.meta.dirname, '../..');

function read(file: string): unknown {
  return JSON.parse(readFileSync(path.join(web, file), 'utf8'));
}

// The server's end-to-end tests validate every message against that schema.
test('message types match docs/events.schema.json', { timeout: 60_000 }, () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/events.mjs', '--check'], {
    cwd: web,
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  expect(status).toBe(0);
});

test('every metadata key that the dashboard reads is in the schema', () => {
  const prefix = 'TimelineItem.metadata.';
  const keys = (read('fields.json') as string[]).filter((field) => field.startsWith(prefix));
  const { $defs } = read('../docs/events.schema.json') as { $defs: Record<string, { properties?: object }> };
  const known = Object.entries($defs).flatMap(([name, schema]) =>
    name.startsWith('metadata.') ? Object.keys(schema.properties ?? {}) : [],
  );
  expect(keys).toContain(`${prefix}call`);
  expect(keys.filter((key) => !known.includes(key.slice(prefix.length)))).toEqual([]);
});
