/** The places of cards on the board, and how moves change them. */

export const columns = ['open', 'in_progress', 'done', 'dropped'] as const;
export type ColumnName = (typeof columns)[number];

/** The card ids of every column, from the top. */
export type Layout = Readonly<Record<ColumnName, readonly string[]>>;

/** A place on the board: the number of cards above it in the column, not counting the moving card. */
export interface Place {
  column: ColumnName;
  index: number;
}

export interface Move extends Place {
  id: string;
}

export type Direction = 'up' | 'down' | 'left' | 'right';

export const noCards: Layout = { open: [], in_progress: [], done: [], dropped: [] };

/** Returns the place of a card; undefined if it is not on the board. */
export function placeOf(layout: Layout, id: string): Place | undefined {
  for (const column of columns) {
    const index = layout[column].indexOf(id);
    if (index >= 0) return { column, index };
  }
  return undefined;
}

/** Returns the board after a move. An index past the end of a column means its end. */
export function moved(layout: Layout, { id, column, index }: Move): Layout {
  if (placeOf(layout, id) === undefined) return layout;
  const without = (name: ColumnName) => layout[name].filter((other) => other !== id);
  return Object.fromEntries(
    columns.map((name) => [name, name === column ? without(name).toSpliced(index, 0, id) : without(name)]),
  ) as Record<ColumnName, string[]>;
}

/**
 * Returns where a step leads; undefined at the edge of the board. A step sideways keeps the index if the column is long
 * enough.
 */
export function stepped(layout: Layout, id: string, direction: Direction): Place | undefined {
  const from = placeOf(layout, id);
  if (from === undefined) return undefined;
  const { column, index } = from;
  if (direction === 'up') return index > 0 ? { column, index: index - 1 } : undefined;
  if (direction === 'down') return index < layout[column].length - 1 ? { column, index: index + 1 } : undefined;
  const target = columns[columns.indexOf(column) + (direction === 'right' ? 1 : -1)];
  return target === undefined ? undefined : { column: target, index: Math.min(index, layout[target].length) };
}

/** Returns the next card for an arrow key; a step sideways skips empty columns. Undefined at the edge of the board. */
export function neighbour(layout: Layout, id: string, direction: Direction): string | undefined {
  const from = placeOf(layout, id);
  if (from === undefined) return undefined;
  if (direction === 'up' || direction === 'down')
    return layout[from.column][from.index + (direction === 'down' ? 1 : -1)];
  const side = direction === 'right' ? 1 : -1;
  for (let at = columns.indexOf(from.column) + side; columns[at] !== undefined; at += side) {
    const cards = layout[columns[at] as ColumnName];
    if (cards.length > 0) return cards[Math.min(from.index, cards.length - 1)];
  }
  return undefined;
}

/** Returns the request for a move. It is relative to a neighbour, because others may move cards at the same time. */
export function requestOf(
  layout: Layout,
  { id, column, index }: Move,
): { status: ColumnName; after_id?: string; before_id?: string } {
  const others = layout[column].filter((other) => other !== id);
  const after = others[Math.min(index, others.length) - 1];
  const before = others[index];
  if (after !== undefined) return { status: column, after_id: after };
  return before === undefined ? { status: column } : { status: column, before_id: before };
}
