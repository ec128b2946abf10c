/**
 * The marks by which an analysis names the tool calls that it rests on, such as `[call 1.2.3]` or `[calls 1.1.1 and 1.1.2]`.
 * The grammar is that of CitedCalls in the server's citation.go, which checks the same marks when the analysis is stored.
 */

const number = String.raw`[1-9]\d{0,5}\.[1-9]\d{0,5}\.[1-9]\d{0,5}`;
const list = String.raw`${number}(?:(?:\s*,\s*(?:and\s+)?|\s+and\s+)${number})*`;
const mark = new RegExp(String.raw`\[\s*calls?\s+(${list})\s*\]`, 'gi');
const inMark = new RegExp(number, 'g');

/** A piece of text: words, or the calls that one mark names. */
type Piece = { words: string } | { calls: string[] };

/** Parts a text at its marks. The words of all pieces and the marks between them are the whole text. */
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

/** The words without the marks, for places in which these lead nowhere. */
export function withoutMarks(text: string): string {
  return pieces(text)
    .map((piece) => ('words' in piece ? piece.words : ''))
    .join('')
    .replace(/[ \t]+([.,;:])/g, '$1')
    .replace(/[ \t]{2,}/g, ' ')
    .trim();
}
