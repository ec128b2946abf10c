/** Joins paginated responses. */
import type { Timeline, Trace } from './types';

interface Page {
  next_cursor?: string;
}

/** Reads pages until one has no next cursor, and joins them. */
export async function joinPages<P extends Page>(
  read: (cursor: string | undefined) => Promise<P>,
  join: (whole: P, page: P) => P,
): Promise<P> {
  let whole = await read(undefined);
  for (let cursor = whole.next_cursor; cursor; ) {
    const page = await read(cursor);
    whole = join(whole, page);
    cursor = page.next_cursor;
  }
  return whole;
}

/**
 * Keeps the version of the first page: the journal reports everything that happened while the other pages were read.
 */
export function joinTimeline(whole: Timeline, page: Timeline): Timeline {
  return { ...whole, events: [...whole.events, ...page.events] };
}

/** Every page repeats the stages, executions and usage in full; only the calls differ. */
export function joinTrace(whole: Trace, page: Trace): Trace {
  const executions = new Map(page.stages.flatMap((s) => s.executions.map((e) => [e.execution_id, e] as const)));
  return {
    ...whole,
    session_interactions: [...whole.session_interactions, ...page.session_interactions],
    stages: whole.stages.map((stage) => ({
      ...stage,
      executions: stage.executions.map((execution) => {
        const more = executions.get(execution.execution_id);
        return more === undefined
          ? execution
          : {
              ...execution,
              llm_interactions: [...execution.llm_interactions, ...more.llm_interactions],
              mcp_interactions: [...execution.mcp_interactions, ...more.mcp_interactions],
            };
      }),
    })),
  };
}
