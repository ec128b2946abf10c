/** Splits a text where passages begin and end, so that each piece can be highlighted as part of all its passages. */

export interface Passage {
  /** What the passage is evidence for. */
  id: string;
  /** The exact words of the text. */
  quote: string;
  /** The position where they were found, in UTF-16 units. */
  start: number;
  end: number;
}

export interface Piece {
  /** The position of the piece in the text; unique, so it serves as a key. */
  start: number;
  text: string;
  /** What the piece is evidence for, in the order of the passages; empty for plain text. */
  ids: readonly string[];
}

/** Returns the whole text in pieces. Passages may overlap; one whose words are not in the text is ignored. */
export function piecesOf(text: string, passages: readonly Passage[]): Piece[] {
  const placed = passages.flatMap((passage) => place(text, passage) ?? []);
  const cuts = new Set([0, text.length]);
  for (const { start, end } of placed) cuts.add(start).add(end);
  const places = [...cuts].sort((a, b) => a - b);
  return places.slice(0, -1).map((start, n) => {
    const end = places[n + 1] ?? text.length;
    const ids = placed.filter((passage) => passage.start <= start && passage.end >= end).map(({ id }) => id);
    return { start, text: text.slice(start, end), ids: [...new Set(ids)] };
  });
}

/** Trusts the offsets only if the words are there; otherwise uses the nearest occurrence. */
function place(
  text: string,
  { id, quote, start, end }: Passage,
): { id: string; start: number; end: number } | undefined {
  if (quote === '') return undefined;
  if (text.slice(start, end) === quote) return { id, start, end };
  let nearest: number | undefined;
  for (let at = text.indexOf(quote); at >= 0; at = text.indexOf(quote, at + 1)) {
    if (nearest === undefined || Math.abs(at - start) < Math.abs(nearest - start)) nearest = at;
  }
  return nearest === undefined ? undefined : { id, start: nearest, end: nearest + quote.length };
}
