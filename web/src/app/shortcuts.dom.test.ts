import { describe, expect, it } from 'vitest';
import { capturesKeys, keyName, Matcher, type Press, type Shortcut, Typeahead } from './shortcuts';

const shortcut = (keys: string): Shortcut => ({ keys, label: keys, group: '', run: () => {} });
const all = ['mod+k', '?', 'j', 's', 'g s', 'g y'].map(shortcut);
const press = (key: string, held: Partial<Press> = {}): Press => ({
  key,
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  ...held,
});

function typed(keys: string[], gap = 100): (string | undefined)[] {
  const matcher = new Matcher();
  return keys.map((key, n) => matcher.press(key, 1000 + n * gap, all)?.keys);
}

describe('typed keys', () => {
  it('match a shortcut with one key', () => {
    expect(typed(['j', '?', 'x'])).toEqual(['j', '?', undefined]);
  });

  it('match a shortcut with two keys, which consumes the second', () => {
    expect(typed(['g', 's'])).toEqual([undefined, 'g s']);
    expect(typed(['g', 'y', 's'])).toEqual([undefined, 'g y', 's']);
  });

  it('start over at a key that does not match', () => {
    expect(typed(['g', 'j'])).toEqual([undefined, 'j']);
    expect(typed(['g', 'g', 's'])).toEqual([undefined, undefined, 'g s']);
    expect(typed(['g', 'x', 's'])).toEqual([undefined, undefined, 's']);
    expect(typed(['g', '', 's'])).toEqual([undefined, undefined, 's']);
  });

  it('are forgotten after a timeout', () => {
    expect(typed(['g', 's'], 1600)).toEqual([undefined, 's']);
  });

  it('match the first of two shortcuts with the same keys', () => {
    const mine = shortcut('j');
    expect(new Matcher().press('j', 0, [mine, ...all])).toBe(mine);
  });
});

describe('the name of a key', () => {
  it('uses mod for Ctrl and Command', () => {
    expect(keyName(press('k', { ctrlKey: true }))).toBe('mod+k');
    expect(keyName(press('K', { metaKey: true }))).toBe('mod+k');
  });

  it('accepts symbols with any modifiers that produce them', () => {
    expect(keyName(press('?', { shiftKey: true }))).toBe('?');
    expect(keyName(press('/', { shiftKey: true }))).toBe('/');
    expect(keyName(press('/', { ctrlKey: true, altKey: true }))).toBe('/');
  });

  it('ignores shortcuts of the browser', () => {
    expect(keyName(press('j', { altKey: true }))).toBe('');
    expect(keyName(press('J', { shiftKey: true }))).toBe('');
    expect(keyName(press('k', { ctrlKey: true, shiftKey: true }))).toBe('');
    expect(keyName(press('Tab'))).toBe('');
  });

  it('ignores Caps Lock', () => {
    expect(keyName(press('J'))).toBe('j');
  });
});

describe('keys are captured by', () => {
  const inside = (html: string) => {
    document.body.innerHTML = html;
    return capturesKeys(document.querySelector('#x'));
  };

  it.each([
    '<input id="x">',
    '<input id="x" type="search">',
    '<textarea id="x"></textarea>',
    '<select id="x"></select>',
    '<div role="menu"><div id="x" tabindex="0"></div></div>',
    '<div role="dialog"><button id="x"></button></div>',
    '<div contenteditable="true"><b id="x"></b></div>',
  ])('%s', (html) => {
    expect(inside(html)).toBe(true);
  });

  it.each(['<button id="x"></button>', '<a href="#" id="x"></a>', '<input type="checkbox" id="x">', '<p id="x"></p>'])(
    'the page, not by %s',
    (html) => {
      expect(inside(html)).toBe(false);
    },
  );
});

describe('typeahead', () => {
  it('buffers keys for the field until they are taken', () => {
    const ahead = new Typeahead();
    expect(ahead.press(press('a'))).toBe(false);
    ahead.begin();
    for (const key of ['a', 'l', 'x', 'Backspace', 'E']) expect(ahead.press(press(key))).toBe(true);
    for (const other of [press('Enter'), press('k', { ctrlKey: true }), press('Tab')])
      expect(ahead.press(other)).toBe(false);
    expect(ahead.take()).toBe('alE');
    expect(ahead.press(press('a'))).toBe(false);
    expect(ahead.take()).toBe('');
  });
});
