/** The times when nobody worked on a session because its server had stopped responding. Pure functions. */
import type { Trace } from '@/api/types';
import { callIndex, type Span, spanOf } from './calls';

export interface Gap {
  span: Span;
  /** What happened, as a message for people. */
  reason: string;
}

/** Returns the gaps in chronological order. */
export function gapsOf(trace: Trace): Gap[] {
  if (trace.interruptions.length === 0) return [];
  const spans = [...callIndex(trace).values()].map(spanOf);
  return trace.interruptions.map(({ server_id, last_seen_at, resumed_by, resumed_at }) => {
    const end = Date.parse(resumed_at);
    // Heartbeats are seconds apart: anything recorded after the last one shows that the server was alive longer.
    let start = Date.parse(last_seen_at);
    for (const span of spans) {
      for (const at of [span.start, span.end]) if (at !== undefined && at < end) start = Math.max(start, at);
    }
    const next = resumed_by === server_id ? 'it resumed after a restart' : `${resumed_by} resumed the session`;
    return { span: { start: Math.min(start, end), end }, reason: `${server_id} stopped responding; ${next}` };
  });
}
