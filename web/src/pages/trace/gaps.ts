/** The times in which nobody worked on a session because its server had died. Pure functions. */
import type { Trace } from '@/api/types';
import type { Span } from './calls';

export interface Gap {
  span: Span;
  /** What happened, for people. */
  reason: string;
}

/** In the order in which they happened. */
export function gapsOf(_trace: Trace): Gap[] {
  return [];
}
