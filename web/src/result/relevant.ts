/** Finds the lines of a tool's result that a claim is about: those that share its numbers, names and rarer words. */

/** The most lines that are marked. If all lines match equally well and there are more than this, none is. */
const mostLines = 12;
/** Results are untrusted and may be huge: only this many lines are compared. */
const mostCompared = 20_000;

const common = new Set(
  'the and for with that this from was were are has have had not but its which than then when into over under below above does did can could will would been being because since until after before there their they one all any also only more most other some such very per via both each how what who why while where call calls'.split(
    ' ',
  ),
);

/**
 * Returns the searchable terms of a text: numbers, names such as `web-1` or `OOMKilled`, and words of three or more
 * letters.
 */
export function termsOf(text: string): Set<string> {
  const found = text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}_./:-]*/gu) ?? [];
  // Parts of a name are terms too: `web` in `web-1`.
  const terms = found.flatMap((term) => [term.replace(/[./:_-]+$/, ''), ...term.split(/[./:_-]+/)]);
  return new Set(terms.filter((term) => /\d/.test(term) || (term.length > 2 && !common.has(term))));
}

/** Returns the indices of the relevant lines, in order; none if nothing stands out. */
export function relevantLines(lines: readonly string[], claim: string): number[] {
  const wanted = termsOf(claim);
  if (wanted.size === 0) return [];
  const shared = lines.slice(0, mostCompared).map((line) => [...termsOf(line)].filter((term) => wanted.has(term)));
  const count = new Map<string, number>();
  for (const terms of shared) for (const term of terms) count.set(term, (count.get(term) ?? 0) + 1);
  // A term on many lines says little about one of them; a number or a name says more than a word.
  const weight = (term: string) => (/[\d_./:-]/.test(term) ? 2 : 1) / (count.get(term) ?? 1);
  const scores = shared.map((terms) => terms.reduce((sum, term) => sum + weight(term), 0));
  const best = Math.max(0, ...scores);
  if (best === 0) return [];
  const ranked = scores
    .map((score, line) => ({ score, line }))
    .filter(({ score }) => score >= best / 2)
    .sort((a, b) => b.score - a.score || a.line - b.line);
  if (ranked.length > mostLines && ranked[0]?.score === ranked[mostLines]?.score && lines.length === ranked.length)
    return [];
  return ranked
    .slice(0, mostLines)
    .map(({ line }) => line)
    .sort((a, b) => a - b);
}
