/**
 * Finds what the server left out of a result. A separate line of the text reports it: internal/mcp/result.go writes
 * that line for a result too long to receive, internal/agent/quote/quote.go for one too long to store.
 */
import type { ResultRow } from './lines';

export interface Cut {
  missing: number;
  whole: number;
  unit: 'bytes' | 'tokens';
}

const leftOut = /^\[(?:… )?cut: about (\d{1,15}) of (\d{1,15}) (bytes|tokens) left out(?: …)?\]$/;
const firstShown = /^\[… cut: the first (\d{1,15}) of (\d{1,15}) (bytes) are shown\]$/;
const longestNote = 100;

export function cutNote(text: string): Cut | undefined {
  if (text.length > longestNote || !text.startsWith('[')) return undefined;
  const middle = leftOut.exec(text);
  if (middle) return cut(Number(middle[1]), Number(middle[2]), middle[3]);
  const end = firstShown.exec(text);
  return end ? cut(Number(end[2]) - Number(end[1]), Number(end[2]), end[3]) : undefined;
}

function cut(missing: number, whole: number, unit: string | undefined): Cut | undefined {
  if (missing <= 0 || missing > whole) return undefined;
  return { missing, whole, unit: unit === 'bytes' ? 'bytes' : 'tokens' };
}

/** Returns the notes of a result, one of each unit: a tool may itself write such lines any number of times. */
export function cutsOf(rows: readonly ResultRow[]): Cut[] {
  const found = new Map<string, Cut>();
  for (const row of rows) {
    const note = cutNote(row.text);
    if (note && !found.has(note.unit)) found.set(note.unit, note);
  }
  return [...found.values()];
}
