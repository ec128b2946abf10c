/** Finds a text in a result: literal and case-insensitive. */
import type { ResultRow } from './lines';

export interface Match {
  row: number;
  start: number;
  end: number;
}

export interface Matches {
  list: readonly Match[];
  /** Whether there are more matches than listed. */
  more: boolean;
  /** The matches of a row, as indices of the list. */
  ofRow: ReadonlyMap<number, readonly number[]>;
}

/** More than anyone steps through. */
const mostMatches = 5_000;
export const longestSearch = 200;

export const noMatches: Matches = { list: [], more: false, ofRow: new Map() };

export function findIn(rows: readonly ResultRow[], typed: string): Matches {
  const wanted = typed.slice(0, longestSearch);
  if (wanted === '') return noMatches;
  const list: Match[] = [];
  const ofRow = new Map<number, number[]>();
  const small = wanted.toLowerCase();
  for (let row = 0; row < rows.length; row++) {
    const text = rows[row]?.text ?? '';
    const lower = text.toLowerCase();
    // Lowercasing changes the length of some letters, which would shift the offsets: then the search is case-sensitive.
    const exact = lower.length !== text.length || small.length !== wanted.length;
    const [where, what] = exact ? [text, wanted] : [lower, small];
    for (let at = where.indexOf(what); at >= 0; at = where.indexOf(what, at + what.length)) {
      if (list.length === mostMatches) return { list, more: true, ofRow };
      const own = ofRow.get(row);
      if (own) own.push(list.length);
      else ofRow.set(row, [list.length]);
      list.push({ row, start: at, end: at + what.length });
    }
  }
  return { list, more: false, ofRow };
}
