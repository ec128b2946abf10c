import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Passage, piecesOf } from './passages';

const passage = (id: string, text: string, quote: string): Passage => {
  const start = text.indexOf(quote);
  return { id, quote, start, end: start + quote.length };
};

describe('text pieces', () => {
  it('mark passages and leave the rest', () => {
    const text = 'Ada fixes the cache by Friday.';
    expect(piecesOf(text, [passage('a', text, 'fixes the cache')])).toEqual([
      { start: 0, text: 'Ada ', ids: [] },
      { start: 4, text: 'fixes the cache', ids: ['a'] },
      { start: 19, text: ' by Friday.', ids: [] },
    ]);
  });

  it('belong to every overlapping passage', () => {
    const text = 'one two three';
    expect(piecesOf(text, [passage('a', text, 'one two'), passage('b', text, 'two three')])).toEqual([
      { start: 0, text: 'one ', ids: ['a'] },
      { start: 4, text: 'two', ids: ['a', 'b'] },
      { start: 7, text: ' three', ids: ['b'] },
    ]);
  });

  it('count in UTF-16 units like the server', () => {
    const text = '😀 Deploy 🚀 on Monday';
    const found = piecesOf(text, [{ id: 'a', quote: 'Deploy 🚀', start: 3, end: 12 }]);
    expect(found.map((piece) => piece.text)).toEqual(['😀 ', 'Deploy 🚀', ' on Monday']);
  });

  it('are found by their quote if the offsets are wrong', () => {
    const text = 'check it, then check it again';
    expect(piecesOf(text, [{ id: 'a', quote: 'check it', start: 14, end: 22 }])[1]).toEqual({
      start: 15,
      text: 'check it',
      ids: ['a'],
    });
    expect(piecesOf(text, [{ id: 'a', quote: 'never said', start: 0, end: 10 }])).toEqual([
      { start: 0, text, ids: [] },
    ]);
  });

  it('are the whole text without passages, and none for an empty text', () => {
    expect(piecesOf('plain', [])).toEqual([{ start: 0, text: 'plain', ids: [] }]);
    expect(piecesOf('', [{ id: 'a', quote: '', start: 0, end: 0 }])).toEqual([]);
  });

  it('joined are the original text for any passages', () => {
    const texts = fc.string({ unit: 'grapheme', maxLength: 40 });
    const passages = fc.array(
      fc.record({ id: fc.constantFrom('a', 'b'), quote: texts, start: fc.integer(), end: fc.integer() }),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(texts, passages, (text, some) => {
        const pieces = piecesOf(text, some);
        expect(pieces.map((piece) => piece.text).join('')).toBe(text);
        expect(pieces.every((piece) => piece.text !== '')).toBe(true);
      }),
    );
  });
});
