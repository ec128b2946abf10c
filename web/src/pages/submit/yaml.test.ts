import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkYAML } from './yaml';

const dataOf = (text: string): unknown => {
  const checked = checkYAML(text);
  if (!checked.ok) throw new Error(checked.mistake.message);
  return JSON.parse(checked.data);
};
const mistakeOf = (text: string) => {
  const checked = checkYAML(text);
  if (checked.ok) throw new Error(`accepted: ${checked.data.slice(0, 100)}`);
  return checked.mistake;
};

describe('YAML', () => {
  it('is converted to JSON data', () => {
    expect(dataOf('pod: web-1\nlabels: {app: web}\nevents:\n  - OOMKilled\n  - 3\nat: 2026-11-15\nyes: yes\n')).toEqual(
      {
        pod: 'web-1',
        labels: { app: 'web' },
        events: ['OOMKilled', 3],
        at: '2026-11-15',
        yes: 'yes',
      },
    );
  });

  it('may use anchors and merge keys', () => {
    expect(dataOf('base: &b {a: 1}\nuse:\n  <<: *b\n  c: *b\n')).toEqual({
      base: { a: 1 },
      use: { a: 1, c: { a: 1 } },
    });
  });

  it('may be a plain string', () => {
    expect(dataOf('disk is full\non node 7')).toBe('disk is full on node 7');
  });

  it('keeps values as text that JSON cannot represent', () => {
    expect(
      dataOf('a: .inf\nb: -.inf\nc: .nan\nd: 12345678901234567890\ne: 1e400\nf: 0.1\ng: 9007199254740991'),
    ).toEqual({
      a: '.inf',
      b: '-.inf',
      c: '.nan',
      d: '12345678901234567890',
      e: '1e400',
      f: 0.1,
      g: 9007199254740991,
    });
    expect(dataOf('a: !!binary aGk=\nb: !secret x\nc: !!set {x, y}')).toEqual({
      a: 'aGk=',
      b: 'x',
      c: { x: null, y: null },
    });
  });

  it('does not pollute prototypes with its keys', () => {
    const data = dataOf('__proto__: {polluted: true}\nconstructor: {prototype: {polluted: true}}');
    expect(Object.keys(data as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

describe('a YAML error', () => {
  it.each([
    ['a: 1\nb: c: d', 2, 4, /nested mappings/],
    ['a: [1, 2', 1, 9, /flow sequence/],
    ['a: 1\n---\nb: 2', 2, 1, /second document/],
    ['a: 1\na: 2', 2, 1, /unique/],
    ['a:\n\t- x', 2, 1, /tab/i],
    ['a: 1\nb: *nothing', 2, 4, /alias \*nothing has no anchor/],
    ['a: *later\nb: &later 1', 1, 4, /before it/],
  ])('in %j is at line %i, column %i', (text, line, column, why) => {
    const mistake = mistakeOf(text);
    expect(mistake).toMatchObject({ line, column });
    expect(mistake.message).toMatch(why);
  });

  it.each([
    ['', /empty/],
    ['# only a comment', /empty/],
    ['null', /empty/],
    ['42', /not a number/],
    ['true', /not a boolean/],
    ['a: &x [*x]', /contains itself|too much|deeply/],
  ])('is reported for %j', (text, why) => {
    expect(mistakeOf(text).message).toMatch(why);
  });

  it('is reported for aliases that expand to gigabytes', () => {
    let bomb = 'a: &a [x, x, x, x, x, x, x, x, x]\n';
    for (const [before, name] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg', 'gh', 'hi']) {
      bomb += `${name}: &${name} [${Array(9).fill(`*${before}`).join(', ')}]\n`;
    }
    expect(mistakeOf(bomb).message).toMatch(/expand to too much data/);
  });

  it.each(['[', '- ', '? ', '{a: '])('is reported for %j repeated 20,000 times', (piece) => {
    expect(mistakeOf(piece.repeat(20_000)).message).toMatch(/deeply/);
  });

  it('is never thrown', () => {
    const pieces = fc.constantFrom(
      'a',
      ': ',
      '- ',
      '\n',
      '  ',
      '&a ',
      '*a',
      '"',
      "'",
      '|',
      '>',
      '{',
      '}',
      '[',
      ']',
      '---',
      '...',
      '%',
      '!',
      '#',
      '\0',
      '\t',
      '1',
    );
    fc.assert(
      fc.property(fc.array(pieces, { maxLength: 25 }), (parts) => {
        const checked = checkYAML(parts.join(''));
        if (checked.ok) JSON.parse(checked.data);
      }),
      { numRuns: 1000 },
    );
  });
});
