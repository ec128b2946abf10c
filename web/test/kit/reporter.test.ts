import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

/** Runs a fixture with the reporter, as a user would. */
function run(fixture: string) {
  const directory = mkdtempSync(path.join(tmpdir(), 'tarsy-reporter-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const history = path.join(directory, 'history.json');
  const web = path.resolve(import.meta.dirname, '../..');
  const { status, stdout } = spawnSync(
    process.execPath,
    [
      ...['node_modules/vitest/vitest.mjs', 'run', fixture],
      ...['--config', 'test/kit/fixtures/vitest.config.ts', '--configLoader', 'runner'],
    ],
    { cwd: web, encoding: 'utf8', env: { ...process.env, NO_COLOR: '1', TARSY_TEST_HISTORY: history } },
  );
  return { status, lines: stdout.trim().split('\n'), history: JSON.parse(readFileSync(history, 'utf8')) };
}

test('a test that passes the second time is named with its error and fails the run', () => {
  const { status, lines, history } = run('flaky');
  expect(status).toBe(1);
  expect(lines).toContain('flaky: flaky.fixture.ts > passes the second time');
  expect(lines.join('\n')).toMatch(/expected 1 to be 2/);
  expect(lines).toContain('skipped: flaky.fixture.ts > is skipped: there is no moon');
  expect(lines.join('\n')).toMatch(/^1 passed, 1 flaky, 1 skipped in 1 file, [\d.]+ s$/m);
  // Its duration is unknown because a test was skipped.
  expect(history).toEqual({ 'flaky.fixture.ts': { failures: 1 } });
});

test('a green run is printed in two lines', () => {
  const { status, lines, history } = run('steady');
  expect(status).toBe(0);
  expect(lines).toEqual([
    expect.stringMatching(/^1 passed in 1 file, [\d.]+ s$/),
    expect.stringMatching(/^slowest: steady\.fixture\.ts > passes \([\d.]+ s\)$/),
  ]);
  expect(history).toEqual({ 'steady.fixture.ts': { took: expect.any(Number), failures: 0 } });
});
