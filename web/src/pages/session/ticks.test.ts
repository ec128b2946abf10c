import { expect, test } from 'vitest';
import { readTicks, withTick } from './ticks';

test('a step is ticked once; a session without ticks is removed', () => {
  const one = withTick({}, 'a', 2, true);
  expect(withTick(one, 'a', 2, true)).toEqual({ a: [2] });
  expect(withTick(withTick(one, 'a', 0, true), 'a', 2, false)).toEqual({ a: [0] });
  expect(withTick(one, 'a', 2, false)).toEqual({});
});

test('the ticks of the oldest of more than 200 sessions are removed', () => {
  let ticks = {};
  for (let n = 0; n < 201; n++) ticks = withTick(ticks, `session-${n}`, 0, true);
  expect(Object.keys(ticks)).toHaveLength(200);
  expect(ticks).not.toHaveProperty('session-0');
  expect(ticks).toHaveProperty('session-200');
});

test.each(['', 'no JSON', '[1]', 'null', '{"a": "b"}'])('reading ticks from %j returns none', (text) => {
  expect(readTicks(text)).toEqual({});
});
