import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytes } from '@/text/format';
import { jsonMistake } from './json';
import { mistakeAt, mistakeText } from './mistake';
import { byteLength, checkJSON, checkText, recognise, recogniseFile } from './payload';

const parses = (text: string) => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

describe('a JSON error', () => {
  it.each([
    ['{"a": 1,\n "b" 2}', 2, 6, /colon/],
    ['[1, 2,]', 1, 6, /trailing comma/],
    ['{"a": 1,}', 1, 8, /trailing comma/],
    ['{a: 1}', 1, 2, /double quotes/],
    ["{'a': 1}", 1, 2, /double quotes/],
    ["['a']", 1, 2, /use double quotes/],
    ['[1 2]', 1, 4, /comma or \]/],
    ['{"a": 1 "b": 2}', 1, 9, /comma or }/],
    ['{"a": tru}', 1, 7, /expected a value/],
    ['{"a": "x\ny"}', 1, 9, /line break inside a string/],
    ['{"a": "never', 1, 7, /never closed/],
    ['{"a": "\\q"}', 1, 8, /not a valid escape/],
    ['{"a": "\\u12"}', 1, 8, /four hexadecimal/],
    ['{"a": {"b": []', 1, 15, /missing the closing }/],
    ['{} {}', 1, 4, /unexpected text after the end/],
    ['[01]', 1, 3, /comma/],
    ['[undefined]', 1, 2, /expected a value/],
    ['   ', 1, 4, /JSON is empty/],
    ['{"🙂🙂": }', 1, 8, /expected a value/],
  ])('in %j is at line %i, column %i', (text, line, column, why) => {
    expect(parses(text)).toBe(false);
    const mistake = jsonMistake(text);
    expect(mistake).toMatchObject({ line, column });
    expect(mistake?.message).toMatch(why);
  });

  it('is reported exactly when JSON.parse fails', () => {
    const pieces = fc.constantFrom(
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '"',
      '"a"',
      '\\',
      'u00e9',
      '1',
      '-',
      '.5',
      'e3',
      'true',
      'null',
      ' ',
      '\n',
      '\0',
      'é',
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.array(pieces, { maxLength: 14 }).map((parts) => parts.join('')),
          fc.json(),
        ),
        (text) => {
          expect(jsonMistake(text) === null).toBe(parses(text));
        },
      ),
      { numRuns: 3000 },
    );
  });

  it('is reported after removing one character exactly when JSON.parse fails', () => {
    fc.assert(
      fc.property(fc.json(), fc.nat(), (text, at) => {
        const cut = at % text.length;
        const broken = text.slice(0, cut) + text.slice(cut + 1);
        expect(jsonMistake(broken) === null).toBe(parses(broken));
      }),
    );
  });

  it('is located after half a million brackets', () => {
    const deep = '['.repeat(500_000);
    expect(jsonMistake(deep)).toMatchObject({ line: 1, column: 500_001 });
    expect(jsonMistake(deep + ']'.repeat(500_000))).toBeNull();
    expect(jsonMistake('{"a":'.repeat(200_000))?.message).toMatch(/missing the closing }/);
  });

  it('is located at the end of a mebibyte of text', () => {
    const long = `["${'x\\n'.repeat(300_000)}" 1]`;
    expect(jsonMistake(long)).toMatchObject({ offset: long.length - 2 });
  });
});

describe('a JSON payload', () => {
  it('is sent as written, with every digit', () => {
    expect(checkJSON(' {"trace": 12345678901234567890, "x": 1.10}\n')).toEqual({
      ok: true,
      data: '{"trace": 12345678901234567890, "x": 1.10}',
    });
  });

  it.each(['5', 'true', 'null', '-1.5'])('is refused if it is %s', (text) => {
    const checked = checkJSON(text);
    expect(checked).toMatchObject({ ok: false, mistake: { line: 1, column: 1 } });
  });

  it('may be a quoted string', () => {
    expect(checkJSON('"disk full"')).toEqual({ ok: true, data: '"disk full"' });
  });
});

it('text is sent whatever it contains', () => {
  const text = 'a "b"\n\0\ud800 <script>';
  const checked = checkText(text);
  expect(checked.ok && JSON.parse(checked.data)).toBe(text);
});

describe('the detected format', () => {
  it.each([
    ['{"a": 1}', 'json'],
    ['\n [1, 2]', 'json'],
    ['[OOM] pod web-1 was killed', 'text'],
    ['{{ template }}', 'text'],
    ['a: 1\nb: 2', 'text'],
    ['42', 'text'],
    ['"quoted"', 'text'],
    ['', 'text'],
  ])('of the text %j is %s', (text, format) => {
    expect(recognise(text)).toBe(format);
  });

  it.each([
    ['alert.json', '{"a": 1}', 'json'],
    ['alert.JSON', 'broken {', 'json'],
    ['alert.yaml', 'a: 1', 'yaml'],
    ['alert.yml', '{"a": 1}', 'json'],
    ['alert.yml', '{a: 1}', 'yaml'],
    ['alert.txt', 'disk full', 'text'],
    ['alert.txt', '{"a": 1}', 'json'],
    ['alert.txt', 'a: 1', 'text'],
    ['alert.log', '---\na: 1', 'yaml'],
    ['noending', '[1]', 'json'],
    ['../../etc/passwd.json/', 'x', 'text'],
  ])('of the file %s with %j is %s', (name, text, format) => {
    expect(recogniseFile(name, text)).toBe(format);
  });
});

it('positions count characters, not UTF-16 units', () => {
  const text = 'ab\n🙂c\n';
  expect(mistakeAt(text, 5, 'x')).toEqual({ message: 'x', offset: 5, line: 2, column: 2 });
  expect(mistakeAt(text, 0, 'x')).toMatchObject({ line: 1, column: 1 });
  expect(mistakeAt(text, 99, 'x')).toMatchObject({ offset: 7, line: 3, column: 1 });
  expect(mistakeAt('\n\n', 1, 'x')).toMatchObject({ line: 2, column: 1 });
  expect(mistakeText(mistakeAt(text, 5, 'odd'))).toBe('Line 2, column 2: odd');
  expect(mistakeText({ message: 'odd' })).toBe('odd');
});

it('sizes are in UTF-8 bytes', () => {
  expect(byteLength('é🙂')).toBe(6);
  expect(byteLength('\ud800')).toBe(3);
  expect([bytes(0), bytes(1023), bytes(1536), bytes(1 << 20)]).toEqual(['0 B', '1023 B', '1.5 KiB', '1.00 MiB']);
});
