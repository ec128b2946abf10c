/**
 * Determines the visible rows of a trace: those that match the filter and their ancestors, but nothing below a closed
 * row.
 */
import type { Lookup } from '@/live/view';
import { searchFor } from '@/text/words';
import { hasFailed } from './calls';
import { isGroup, type Row } from './rows';
import { isFiltered, type Kind, kinds, type TraceFilter } from './search';

/** A visible row, with its position among its visible siblings, from 1, and their number. */
export interface Shown {
  row: Row;
  position: number;
  siblings: number;
  /** Undefined for rows without children. */
  open: boolean | undefined;
}

export function kindOf(row: Row): Kind {
  switch (row.kind) {
    case 'mcp':
      return 'tool';
    case 'execution':
      return 'agent';
    case 'session':
      return 'stage';
    default:
      return row.kind;
  }
}

/** Returns a predicate for matching rows. For a stage or an agent, `failed` refers to its own status. */
function fitting(filter: TraceFilter, texts: (row: Row) => boolean): (row: Row) => boolean {
  const { kind, failed } = filter;
  return (row) =>
    (kind === undefined || kind.includes(kindOf(row))) && (!failed || hasFailed(row.status)) && texts(row);
}

/**
 * Returns a predicate for the search. A row matches if it or its ancestors contain the words: an agent's name finds its
 * calls.
 */
export function searchRows(rows: readonly Row[], typed: string | undefined, event: Lookup): (row: Row) => boolean {
  if (typed === undefined) return () => true;
  const found = searchFor(typed);
  const texts = new Map<string, string>();
  const hits = new Set<string>();
  for (const row of rows) {
    const own = `${texts.get(row.parent) ?? ''}\n${textOf(row, event)}`;
    if (isGroup(row)) texts.set(row.id, own);
    if (found(own)) hits.add(row.id);
  }
  return (row) => hits.has(row.id);
}

const longestText = 2_000;

function textOf(row: Row, event: Lookup): string {
  const words = [row.label, row.hint];
  if (row.kind === 'llm') words.push(row.item.provider, row.item.error_message);
  if (row.kind === 'mcp') {
    const given = event(row.item.timeline_event_id)?.metadata?.arguments;
    words.push(row.number, row.argument, (JSON.stringify(given) ?? '').slice(0, longestText), row.item.error_message);
  }
  return words.join('\n');
}

export function shownRows(
  rows: readonly Row[],
  filter: TraceFilter,
  closed: ReadonlySet<string>,
  texts: (row: Row) => boolean,
): Shown[] {
  const fits = fitting(filter, texts);
  const wanted = isFiltered(filter) ? withParents(rows, fits) : undefined;
  const hidden = new Set<string>();
  const shown: Shown[] = [];
  const siblings = new Map<string, number>();
  for (const row of rows) {
    const below = hidden.has(row.parent) || closed.has(row.parent);
    if (below && isGroup(row)) hidden.add(row.id);
    if (below || (wanted !== undefined && !wanted.has(row.id))) continue;
    const position = (siblings.get(row.parent) ?? 0) + 1;
    siblings.set(row.parent, position);
    shown.push({ row, position, siblings: 0, open: isGroup(row) ? !closed.has(row.id) : undefined });
  }
  for (const one of shown) one.siblings = siblings.get(one.row.parent) ?? 1;
  return shown;
}

/** Returns the ids of the matching rows and all their ancestors. */
function withParents(rows: readonly Row[], fits: (row: Row) => boolean): ReadonlySet<string> {
  const wanted = new Set<string>();
  // Parents precede their children, so that iterating backwards marks each parent before reaching it.
  for (let at = rows.length - 1; at >= 0; at--) {
    const row = rows[at];
    if (row === undefined || !(wanted.has(row.id) || fits(row))) continue;
    wanted.add(row.id);
    if (row.parent !== '') wanted.add(row.parent);
  }
  return wanted;
}

export interface Counts {
  /** How many rows of each kind match the rest of the filter. */
  kinds: Record<Kind, number>;
  /** How many failed rows match the rest of the filter. */
  failed: number;
  /** How many rows match the whole filter, and how many there are. */
  fitting: number;
  all: number;
}

export function countsOf(rows: readonly Row[], filter: TraceFilter, texts: (row: Row) => boolean): Counts {
  const fits = fitting(filter, texts);
  const ofKind = fitting({ failed: filter.failed }, texts);
  const ofFailed = fitting({ kind: filter.kind, failed: true }, texts);
  const counts: Counts = { kinds: emptyCounts(), failed: 0, fitting: 0, all: rows.length };
  for (const row of rows) {
    if (ofKind(row)) counts.kinds[kindOf(row)]++;
    if (ofFailed(row)) counts.failed++;
    if (fits(row)) counts.fitting++;
  }
  return counts;
}

function emptyCounts(): Record<Kind, number> {
  return Object.fromEntries(kinds.map((kind) => [kind, 0])) as Record<Kind, number>;
}
