/** Keyboard navigation in the tree of calls. */
import type { Shown } from './filter';

/** The effect of a key in a tree: moves to another row, or opens or closes the current one. */
type TreeMove = { to: number } | { toggle: string } | undefined;

export function treeMove(rows: readonly Shown[], at: number, key: string, page = 10): TreeMove {
  const shown = rows[at];
  const last = rows.length - 1;
  if (shown === undefined) return undefined;
  const { row, open } = shown;
  switch (key) {
    case 'ArrowDown':
      return { to: Math.min(last, at + 1) };
    case 'ArrowUp':
      return { to: Math.max(0, at - 1) };
    case 'PageDown':
      return { to: Math.min(last, at + page) };
    case 'PageUp':
      return { to: Math.max(0, at - page) };
    case 'Home':
      return { to: 0 };
    case 'End':
      return { to: last };
    case 'ArrowRight':
      if (open === undefined) return undefined;
      if (!open) return { toggle: row.id };
      return rows[at + 1]?.row.parent === row.id ? { to: at + 1 } : undefined;
    case 'ArrowLeft': {
      if (open) return { toggle: row.id };
      const parent = rows.findIndex((other) => other.row.id === row.parent);
      return parent < 0 ? undefined : { to: parent };
    }
    default:
      return undefined;
  }
}
