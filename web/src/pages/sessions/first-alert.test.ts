import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { curlCommand, submitCommand } from './first-alert';

/** Returns the words into which a real shell splits a command. */
function wordsOf(command: string, env: Record<string, string> = {}): string[] {
  const script = `curl() { printf '%s\\n' "$@"; }; tarsy() { printf '%s\\n' "$@"; }; ${command}`;
  return execFileSync('sh', ['-c', script], { encoding: 'utf8', env }).trimEnd().split('\n');
}

const hostile = `it's "a" $(type) \`now\``;

it('the curl command submits an alert of any type name to this server', () => {
  const words = wordsOf(curlCommand({ origin: 'http://10.0.0.7:8080', alertType: hostile, authRequired: false }));
  expect(words.slice(0, 3)).toEqual(['http://10.0.0.7:8080/api/v1/alerts', '-H', 'Content-Type: application/json']);
  expect(JSON.parse(words.at(-1) ?? '')).toMatchObject({ alert_type: hostile });
});

it('the curl command takes the key from the environment if one is required', () => {
  const command = curlCommand({ origin: 'https://tarsy', alertType: undefined, authRequired: true });
  expect(wordsOf(command, { TARSY_TOKEN: 'tarsy_x' })).toContain('Authorization: Bearer tarsy_x');
  expect(JSON.parse(wordsOf(command).at(-1) ?? '')).not.toHaveProperty('alert_type');
});

it('the tarsy command has the server and the type', () => {
  const words = wordsOf(submitCommand({ origin: 'https://tarsy', alertType: hostile, authRequired: false }));
  expect(words.slice(0, 5)).toEqual(['submit', '--server', 'https://tarsy', '--type', hostile]);
});
