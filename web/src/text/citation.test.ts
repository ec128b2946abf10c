import { expect, test } from 'vitest';
import { pieces, withoutMarks } from './citation';

/** Returns the calls that a text cites, each once, in order of appearance. */
function citedCalls(text: string): string[] {
  return [...new Set(pieces(text).flatMap((piece) => ('calls' in piece ? piece.calls : [])))];
}

// The rows of the server's citation_test.go about the text of one paragraph: both sides must parse the same citations.
test.each([
  ['one', 'The disk is full [call 1.2.3].', ['1.2.3']],
  ['several in a mark', '[call 1.2.3, 1.2.5]', ['1.2.3', '1.2.5']],
  ['two joined by a word', '[calls 1.1.1 and 1.1.2]', ['1.1.1', '1.1.2']],
  ['a list with a last word', '[calls 1.1.1, 1.1.2, and 1.1.3]', ['1.1.1', '1.1.2', '1.1.3']],
  ['any case', '[CALL 1.1.1] [Calls 1.1.2 AND 1.1.3]', ['1.1.1', '1.1.2', '1.1.3']],
  ['spaces', '[ call  1.1.1 ,1.1.2 ]', ['1.1.1', '1.1.2']],
  ['a wrapped line', '[call\n1.1.1,\n1.1.2]', ['1.1.1', '1.1.2']],
  ['each once', '[call 2.1.9] [call 1.1.1] [call 2.1.9, 1.1.2]', ['2.1.9', '1.1.1', '1.1.2']],
  ['within brackets', '[[call 1.1.1]]', ['1.1.1']],
  ['after a broken one', '[call 1.1.1, [call 1.1.2]', ['1.1.2']],
  ['none', 'All is well.', []],
  ['no text', '', []],
  ['no brackets', 'call 1.1.1 said so', []],
  ['another word', '[step 1.1.1] [recall 1.1.1]', []],
  ['no word', '[1.1.1]', []],
  ['not a number of a call', '[call 1.1] [call 1.1.1.1] [call 0.1.1] [call 01.1.1] [call 1.1.0]', []],
  ['beyond all bounds', '[call 1.1.12345678901234567890]', []],
  ['a range', '[call 1.1.1-1.1.3]', []],
  ['words besides the calls', '[call 1.1.1 says so]', []],
  ['no end', '[call 1.1.1', []],
  ['other digits', '[call １.１.１]', []],
])('parses citations like the server: %s', (_name, text, want) => {
  expect(citedCalls(text)).toEqual(want);
});

test('splits a text into words and citations without loss', () => {
  expect(pieces('a [call 1.1.1] b [call 1.1.2, 1.1.3]')).toEqual([
    { words: 'a ' },
    { calls: ['1.1.1'] },
    { words: ' b ' },
    { calls: ['1.1.2', '1.1.3'] },
  ]);
});

test('parses hostile text in bounded time', () => {
  const began = performance.now();
  for (const text of [
    '['.repeat(1e6),
    '[call '.repeat(2e5),
    `[call ${' '.repeat(1e6)}`,
    `[call 1.1.1${', 1.1.1'.repeat(2e5)}`,
  ]) {
    expect(citedCalls(text)).toEqual([]);
  }
  expect(performance.now() - began).toBeLessThan(10_000);
});

test('a text without its citations reads as a sentence', () => {
  expect(withoutMarks('The limit is too low [call 1.1.1], the log agrees [calls 1.1.2 and 1.1.3].')).toBe(
    'The limit is too low, the log agrees.',
  );
  expect(withoutMarks('No mark.')).toBe('No mark.');
});
