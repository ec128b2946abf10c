/**
 * Parses the citations of tool calls in an analysis, such as `[call 1.2.3]` or `[calls 1.1.1 and 1.1.2]`. The grammar
 * is that of CitedCalls in the server's citation.go, which checks the same citations when the analysis is stored.
 */

const number = String.raw`[1-9]\d{0,5}\.[1-9]\d{0,5}\.[1-9]\d{0,5}`;
const list = String.raw`${number}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)${number})*`;
const mark = new RegExp(String.raw`\[\s*calls?\s+(${list})\s*\]`, 'gi');
const inMark = new RegExp(number, 'g');

/** A piece of text: words, or the calls of one citation. */
type Piece = { words: string } | { calls: string[] };

/** Splits a text at its citations. The words of all pieces and the citations between them are the whole text. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let end = 0;
  for (const match of text.matchAll(mark)) {
    if (match.index > end) found.push({ words: text.slice(end, match.index) });
    found.push({ calls: match[1]?.match(inMark) ?? [] });
    end = match.index + match[0].length;
  }
  if (end < text.length || found.length === 0) found.push({ words: text.slice(end) });
  return found;
}

/** Returns the words without the citations, for places where these cannot be links. */
export function withoutMarks(text: string): string {
  return pieces(text)
    .map((piece) => ('words' in piece ? piece.words : ''))
    .join('')
    .replace(/[ \t]+([.,;:])/g, '$1')
    .replace(/[ \t]{2,}/g, ' ')
    .trim();
}
