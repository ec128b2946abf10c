import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addChunk, addSaved, type Chunk, isWhole, savedText, type Text } from './text';

const empty = savedText('');
const unit = fc.string({ unit: 'binary', minLength: 0, maxLength: 40 });

/** Cuts a text into chunks like the server: anywhere except inside a character. */
function cut(text: string, fence: number): Chunk[] {
  let offset = 0;
  return [...text].map((delta) => {
    const chunk = { delta, offset, fence };
    offset += delta.length;
    return chunk;
  });
}

function take(text: Text, chunks: readonly Chunk[]): Text {
  return chunks.reduce(addChunk, text);
}

describe('streamed text', () => {
  test('ordered chunks make up the text in any encoding', () => {
    fc.assert(
      fc.property(unit, (whole) => {
        const text = take(empty, cut(whole, 1));
        expect(text.content).toBe(whole);
        expect(isWhole(text)).toBe(true);
      }),
    );
  });

  test('order and repetition of chunks do not matter once all have arrived', () => {
    const chunks = unit.chain((whole) =>
      fc.record({
        whole: fc.constant(whole),
        chunks: fc.shuffledSubarray([...cut(whole, 1), ...cut(whole, 1)], { minLength: 2 * [...whole].length }),
      }),
    );
    fc.assert(
      fc.property(chunks, ({ whole, chunks }) => {
        // No more pieces than may wait beyond a gap.
        fc.pre([...whole].length <= 16);
        expect(take(empty, chunks).content).toBe(whole);
      }),
    );
  });

  test('dropped chunks leave a prefix and a known gap', () => {
    const dropped = unit.chain((whole) => fc.record({ whole: fc.constant(whole), chunks: fc.subarray(cut(whole, 1)) }));
    fc.assert(
      fc.property(dropped, ({ whole, chunks }) => {
        const text = take(empty, chunks);
        expect(whole.startsWith(text.content)).toBe(true);
        const last = chunks.at(-1);
        const reached = last === undefined ? 0 : last.offset + last.delta.length;
        expect(isWhole(text)).toBe(text.content.length === reached);
        expect(addSaved(text, whole).content).toBe(whole);
        expect(isWhole(addSaved(text, whole))).toBe(true);
      }),
    );
  });

  test('overlapping chunks are merged', () => {
    const text = take(empty, [
      { delta: 'a😀', offset: 0, fence: 1 },
      { delta: '😀b', offset: 1, fence: 1 },
    ]);
    expect(text.content).toBe('a😀b');
  });

  test('a chunk without new text changes nothing', () => {
    const text = take(empty, cut('abc', 1));
    expect(addChunk(text, { delta: 'bc', offset: 1, fence: 1 })).toBe(text);
    expect(addChunk(text, { delta: 'xyz', offset: 3, fence: 0 })).toBe(text);
  });

  test('a higher fence restarts the text and ignores the previous holder', () => {
    const text = take(empty, [
      { delta: 'old text', offset: 0, fence: 1 },
      { delta: 'new', offset: 0, fence: 2 },
      { delta: ' text', offset: 8, fence: 1 },
      { delta: ' words', offset: 3, fence: 2 },
    ]);
    expect(text.content).toBe('new words');
  });

  test('the text of the last holder wins', () => {
    fc.assert(
      fc.property(unit, fc.string({ unit: 'binary', minLength: 1 }), fc.nat(), (first, second, at) => {
        const before = cut(first, 1);
        const late = before.slice(at % (before.length + 1));
        const text = take(empty, [...before, ...cut(second, 2), ...late]);
        expect(text.content).toBe(second);
      }),
    );
  });

  test('saved text that contradicts a newer chunk is dropped', () => {
    expect(addChunk(savedText('of the previous fence'), { delta: 'again', offset: 0, fence: 2 }).content).toBe('again');
    const gap = addChunk(savedText('of the previous fence'), { delta: 'again', offset: 3, fence: 2 });
    expect(gap.content).toBe('');
    expect(isWhole(gap)).toBe(false);
  });

  test('saved text that agrees with the chunks is kept', () => {
    const text = addChunk(savedText('abcdef'), { delta: 'abc', offset: 0, fence: 3 });
    expect(text.content).toBe('abcdef');
    expect(addChunk(text, { delta: 'efg', offset: 4, fence: 3 }).content).toBe('abcdefg');
  });

  test('a preview has a gap until the rest has arrived', () => {
    const text = savedText('abc', 6);
    expect(isWhole(text)).toBe(false);
    expect(isWhole(addSaved(text, 'abcdef'))).toBe(true);
    expect(addChunk(text, { delta: 'abcdefgh', offset: 0, fence: 1 }).content).toBe('abcdefgh');
  });

  test('saved text that is too short or differs does not fill the gap', () => {
    const text = take(empty, [
      { delta: 'ab', offset: 0, fence: 2 },
      { delta: 'ef', offset: 4, fence: 2 },
    ]);
    expect(addSaved(text, 'abc')).toBe(text);
    expect(addSaved(text, 'abcdxx')).toBe(text);
    expect(addSaved(text, 'xbcdef')).toBe(text);
    expect(addSaved(text, 'abcde').content).toBe('abcdef');
  });

  test('the number of chunks beyond a gap is bounded', () => {
    const pieces = Array.from({ length: 500 }, (_, n) => ({ delta: 'x', offset: 10 + 3 * n, fence: 1 }));
    expect(take(empty, pieces).ahead.length).toBeLessThanOrEqual(16);
  });
});
