import type { ReactNode } from 'react';

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
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return choices.filter((choice) => {
    const text = [choice.label, ...(choice.keywords ?? [])].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
