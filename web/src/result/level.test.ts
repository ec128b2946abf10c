import { expect, test } from 'vitest';
import { levelOf } from './level';

test.each([
  ['2026-11-16T14:02:07Z ERROR web-1 OOMKilled', 'error'],
  ['14:01:00 WARN cache is nearly full', 'warn'],
  ['14:01:00 [main] INFO  request failed with code ERROR', 'info'],
  ['14:01:00 DEBUG took 3 ms', 'debug'],
  ['2026/11/16 14:02:07 [error] 31#31: upstream timed out', 'error'],
  ['time="14:02" level=warning msg="slow"', 'warn'],
  ['{"level":"error","msg":"no such host"}', 'error'],
  ['  "severity": "critical",', 'error'],
  ['E1116 14:02:07.123456       1 leaderelection.go:330] lost lease', 'error'],
  ['I1116 14:02:07.123456       1 main.go:12] started', 'info'],
  ['5m          Warning   BackOff   pod/web-1   restarting failed container', 'warn'],
  ['FATAL: password authentication failed', 'error'],
])('%s has level %s', (line, level) => {
  expect(levelOf(line)?.level).toBe(level);
});

test.each([
  'an error in a sentence is no level',
  'information about errors',
  '5m   Normal   Scheduled   pod/web-1',
  '',
  `${'x'.repeat(300)} ERROR far from the beginning`,
  'errors: 0, TERROR',
])('%s has no level', (line) => {
  expect(levelOf(line)).toBeUndefined();
});

test('the position of the level word is returned', () => {
  const line = 'level="info" msg';
  const found = levelOf(line);
  expect(line.slice(found?.start, found?.end)).toBe('info');
});

test('adversarial lines do not cause backtracking', () => {
  const lines = [`${'a '.repeat(80)}`, 'x'.repeat(1_000_000), '['.repeat(1_000), 'level=level='.repeat(100)];
  const before = performance.now();
  for (let n = 0; n < 1_000; n++) for (const line of lines) levelOf(line);
  // Takes milliseconds, even on a busy machine; a backtracking pattern would take minutes.
  expect(performance.now() - before).toBeLessThan(20_000);
});
