import type { ReactNode } from 'react';
import { searchFor } from '@/text/words';

/** One line of the palette. */
export interface Choice {
  id: string;
  label: string;
  keywords?: string[];
  icon?: ReactNode;
  /** The shortcut that does the same. */
  keys?: string;
  /** Whether the palette stays open, so that its effect is seen and undone at once. */
  stay?: boolean;
  run: () => void;
}

/** The choices that have every typed word somewhere in their name or keywords. */
export function matching(choices: readonly Choice[], typed: string): Choice[] {
  const found = searchFor(typed);
  return choices.filter((choice) => found(choice.label, ...(choice.keywords ?? [])));
}
