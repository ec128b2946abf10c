/** What every part of one timeline shares. */
import { createContext, useContext } from 'react';
import type { SessionStore } from '@/live/view';
import type { Folding } from './folding';
import type { Follow } from './follow';
import type { Size } from './list';

/** What is kept of a pane while it is out of view. */
interface PaneMemory {
  follow: Follow;
  offset: number;
  sizes: Size[];
}

/** A row that is asked for: it is scrolled to and gets the keyboard. Each request has its own token. */
export interface Summons {
  key: string;
  token: number;
}

export interface TimelineShared {
  store: SessionStore;
  folding: Folding;
  /** By execution. */
  panes: Map<string, PaneMemory>;
  newToken(): number;
  /** True the first time that a part asks about a summons: rows come and go, and must not be summoned again. */
  answer(part: string, token: number): boolean;
}

export const TimelineContext = createContext<TimelineShared | undefined>(undefined);

export function useTimeline(): TimelineShared {
  const shared = useContext(TimelineContext);
  if (!shared) throw new Error('a part of the timeline is used outside of it');
  return shared;
}

/** The event of each tool call by its number; apart from the rest, because it grows with every call. */
export const CallsContext = createContext<ReadonlyMap<string, string>>(new Map());
