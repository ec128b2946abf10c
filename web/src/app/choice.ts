import type { ReactNode } from 'react';
import { searchFor } from '@/text/words';

/** One entry of the palette. */
export interface Choice {
  id: string;
  label: string;
  keywords?: string[];
  icon?: ReactNode;
  /** The shortcut that does the same. */
  keys?: string;
  /** Keeps the palette open, so that people see the effect and can undo it immediately. */
  keepOpen?: boolean;
  run: () => void;
}

/** Returns the choices whose label or keywords contain every typed word. */
export function matching(choices: readonly Choice[], typed: string): Choice[] {
  const found = searchFor(typed);
  return choices.filter((choice) => found(choice.label, ...(choice.keywords ?? [])));
}
