import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { indented, memberText } from './json-text';

describe('JSON as text', () => {
  test('is indented without changing a digit', () => {
    const json = '{"id":12345678901234567890,"ratio":1.10,"big":1e400,"list":[1,{"a":[]}],"none":{}}';
    expect(indented(json)).toBe(`{
  "id": 12345678901234567890,
  "ratio": 1.10,
  "big": 1e400,
  "list": [
    1,
    {
      "a": []
    }
  ],
  "none": {}
}`);
  });

  test('is indented like JSON.stringify', () => {
    fc.assert(
      fc.property(fc.json(), (json) => {
        const written = JSON.stringify(JSON.parse(json));
        expect(indented(written)).toBe(JSON.stringify(JSON.parse(json), null, 2));
      }),
    );
  });

  test('keeps strings as written', () => {
    expect(indented('{"a":"b: {, \\" ]","\\u0041":"\\\\"}')).toBe('{\n  "a": "b: {, \\" ]",\n  "\\u0041": "\\\\"\n}');
  });

  test('stays on one line if it is nested too deeply', () => {
    const deep = '['.repeat(100) + ']'.repeat(100);
    expect(indented(deep)).toBe(deep);
  });

  test('returns the value of a member as written', () => {
    const json = '{"id":"x","inner":{"arguments":0},"arguments":{"n": 0.1000, "list":[1,2]} ,"\\u0061bc":"last"}';
    expect(memberText(json, 'arguments')).toBe('{"n": 0.1000, "list":[1,2]}');
    expect(memberText(json, 'id')).toBe('"x"');
    expect(memberText(json, 'abc')).toBe('"last"');
    expect(memberText(json, 'n')).toBeUndefined();
    expect(memberText('{}', 'n')).toBeUndefined();
    expect(memberText('[{"n":1}]', 'n')).toBeUndefined();
  });

  test('finds the members of any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (object) => {
        const json = JSON.stringify(object);
        for (const [name, value] of Object.entries(JSON.parse(json))) {
          expect(memberText(json, name)).toBe(JSON.stringify(value));
        }
      }),
    );
  });
});
