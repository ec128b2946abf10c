/** State shared by all parts of one timeline. */
import { createContext, useContext } from 'react';
import type { SessionStore } from '@/live/view';
import type { Folding } from './folding';
import type { Follow } from './follow';
import type { Size } from './list';

/** The state of a pane, kept while it is out of view. */
interface PaneMemory {
  follow: Follow;
  offset: number;
  sizes: Size[];
}

/** A request to scroll to a row and focus it. Each request has its own token. */
export interface FocusRequest {
  key: string;
  token: number;
}

export interface TimelineShared {
  store: SessionStore;
  folding: Folding;
  /** By execution id. */
  panes: Map<string, PaneMemory>;
  newToken(): number;
  /** Returns true the first time a part handles a request: rows mount and unmount, and must handle it only once. */
  answer(part: string, token: number): boolean;
}

export const TimelineContext = createContext<TimelineShared | undefined>(undefined);

export function useTimeline(): TimelineShared {
  const shared = useContext(TimelineContext);
  if (!shared) throw new Error('a part of the timeline is used outside of it');
  return shared;
}

/** The event of each tool call by its number; a separate context, because it changes with every call. */
export const CallsContext = createContext<ReadonlyMap<string, string>>(new Map());
