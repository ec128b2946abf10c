import { describe, expect, test } from 'vitest';
import { payloadOf } from './payload';

describe('payloadOf', () => {
  test('indents JSON', () => {
    expect(payloadOf(' {"a":[1]}')).toEqual({ text: '{\n  "a": [\n    1\n  ]\n}', json: true });
    expect(payloadOf({ a: 1 })).toEqual({ text: '{\n  "a": 1\n}', json: true });
  });

  test('keeps other text unchanged', () => {
    for (const text of ['plain', '{broken', '[call 1.2.3]', '42', '', '<b>{</b>']) {
      expect(payloadOf(text)).toEqual({ text, json: false });
    }
  });

  test('keeps JSON unchanged that is too long or too deep', () => {
    for (const depth of [100, 50_000]) {
      const deep = '['.repeat(depth) + ']'.repeat(depth);
      expect(payloadOf(deep)).toEqual({ text: deep, json: false });
    }
    const long = JSON.stringify('x'.repeat(2_000_000)).replace(/^"/, '["').replace(/"$/, '"]');
    expect(payloadOf(long).text).toBe(long);
    const brackets = JSON.stringify(['[[['.repeat(100), '\\"']);
    expect(payloadOf(brackets).json).toBe(true);
  });

  test('accepts a value nested too deeply for JSON.stringify', () => {
    let nested: unknown = 1;
    for (let depth = 0; depth < 200_000; depth++) nested = { nested };
    expect(payloadOf(nested).text.length).toBeLessThan(10_000_000);
  });
});
