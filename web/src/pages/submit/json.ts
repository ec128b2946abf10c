/**
 * Finds the first mistake in JSON. Browsers word the position of a JSON.parse error differently, or omit it; this works
 * the same in all of them. It uses an explicit stack, so that a million nested brackets do not overflow the call stack.
 */
import { type Mistake, mistakeAt } from './mistake';

type Expect = 'value' | 'first item' | 'name' | 'first name' | 'colon' | 'next' | 'end';

const space = /[ \t\n\r]*/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const word = /(?:true|false|null)(?![\p{L}\p{N}_$])/uy;
const hex = /[0-9a-fA-F]{4}/y;

/** Returns the end of a sticky pattern's match at an offset, or -1. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** Returns the end of a string that starts at an offset, or where it is malformed and why. */
function afterString(text: string, at: number): number | { at: number; why: string } {
  for (let i = at + 1; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit === 0x22) return i + 1;
    if (unit < 0x20) {
      return {
        at: i,
        why:
          unit === 0x0a
            ? 'line break inside a string; close the quotes or write \\n'
            : 'control character; write it as an escape',
      };
    }
    if (unit !== 0x5c) continue;
    i++;
    if (text[i] === 'u') {
      const end = after(hex, text, i + 1);
      if (end === -1) return { at: i - 1, why: '\\u needs four hexadecimal digits' };
      i = end - 1;
    } else if (i < text.length && !'"\\/bfnrt'.includes(text.charAt(i))) {
      return { at: i - 1, why: `\\${text.charAt(i)} is not a valid escape` };
    }
  }
  return { at, why: 'this string is never closed' };
}

/** Returns the mistake in text that JSON.parse rejects; null if the text is valid. */
export function jsonMistake(text: string): Mistake | null {
  const open: ('{' | '[')[] = [];
  let expect = 'value' as Expect;
  let comma = -1;
  let at = 0;
  const wrong = (message: string, where = at) => mistakeAt(text, where, message);
  const valueEnds = () => {
    expect = open.length === 0 ? 'end' : 'next';
  };

  for (;;) {
    at = Math.max(at, after(space, text, at));
    const unit = text.charAt(at);
    if (unit === '') return atEnd();
    const inside: '{' | '[' | undefined = open.at(-1);

    if ((expect === 'first item' && unit === ']') || (expect === 'first name' && unit === '}')) {
      open.pop();
      at++;
      valueEnds();
    } else if (expect === 'value' || expect === 'first item') {
      if (unit === ']' && inside === '[' && comma !== -1) return wrong('trailing comma', comma);
      const problem = value(unit);
      if (problem !== null) return problem;
    } else if (expect === 'name' || expect === 'first name') {
      if (unit === '}' && comma !== -1) return wrong('trailing comma', comma);
      if (unit !== '"') return wrong('expected a name in double quotes');
      const end = afterString(text, at);
      if (typeof end !== 'number') return wrong(end.why, end.at);
      at = end;
      expect = 'colon';
    } else if (expect === 'colon') {
      if (unit !== ':') return wrong('expected a colon after the name');
      at++;
      expect = 'value';
    } else if (expect === 'next' && unit === ',') {
      comma = at++;
      expect = inside === '{' ? 'name' : 'value';
    } else if (expect === 'next' && unit === (inside === '{' ? '}' : ']')) {
      open.pop();
      at++;
      valueEnds();
    } else if (expect === 'next') {
      return wrong(`expected a comma or ${inside === '{' ? '}' : ']'}`);
    } else {
      return wrong('unexpected text after the end of the JSON');
    }
  }

  function value(unit: string): Mistake | null {
    if (unit === '{' || unit === '[') {
      open.push(unit);
      at++;
      comma = -1;
      expect = unit === '{' ? 'first name' : 'first item';
      return null;
    }
    if (unit === '"') {
      const end = afterString(text, at);
      if (typeof end !== 'number') return wrong(end.why, end.at);
      at = end;
      valueEnds();
      return null;
    }
    const end = Math.max(after(number, text, at), after(word, text, at));
    if (end === -1) return wrong(unit === "'" ? 'use double quotes' : 'expected a value');
    at = end;
    valueEnds();
    return null;
  }

  function atEnd(): Mistake | null {
    if (expect === 'end') return null;
    if (open.length === 0) return wrong('the JSON is empty');
    return wrong(`missing the closing ${open.at(-1) === '{' ? '}' : ']'}`);
  }
}
