/**
 * What the pages see of a session that is watched live. The structure (which stages, executions and events there are,
 * in which order) changes seldom and is one immutable snapshot; the text of an event changes often and is read by
 * the component that shows that event only. That split keeps 200 pieces of text a second from rendering the page again.
 */
import type { Problem } from '@/api/problem';
import type { ExecutionDetail, SessionDetail, StageDetail, TimelineEvent } from '@/api/types';

/** One thing a person sees. Content may be a preview: `truncated` says that the whole is to be asked for. */
export type EventView = TimelineEvent;

export interface ExecutionView {
  execution: ExecutionDetail;
  /** Ids of its events, in the order of the timeline. */
  events: readonly string[];
}

export interface StageView {
  stage: StageDetail;
  executions: readonly ExecutionView[];
  /** Ids of events that belong to the stage and to none of its executions, such as a question. */
  events: readonly string[];
}

/** How fresh the view is. */
export type Freshness =
  /** What happens is shown as it happens. */
  | { state: 'live' }
  /** The connection is lost, or what was missed is being fetched: the view shows what was known at `since`. */
  | { state: 'behind'; since: Date; reason: 'connecting' | 'catching-up' };

export interface SessionView {
  session: SessionDetail;
  stages: readonly StageView[];
  /** Ids of events that belong to no stage, such as the executive summary or an unreachable runbook. */
  events: readonly string[];
  /** The id of each tool call's event by the call's number, for citations. */
  calls: ReadonlyMap<string, string>;
  /** Ids of the events of tool calls that wait for an approval, in the order of the timeline. */
  waiting: readonly string[];
  /** The number of the last journal event that is included. */
  version: number;
}

export type SessionState =
  | { phase: 'loading' }
  | { phase: 'failed'; problem: Problem }
  | { phase: 'ready'; view: SessionView; freshness: Freshness };

/** Finds an event by its id. */
export type Lookup = (id: string) => EventView | undefined;

/** A session that is watched: the page reads it through useSession and useEvent (src/live/hooks.ts). */
export interface SessionStore {
  readonly sessionId: string;
  /** The present state; the same object until something of the structure changes. */
  state(): SessionState;
  subscribe(listener: () => void): () => void;
  /** One event; the same object until it changes. Undefined if there is no such event. */
  event(id: string): EventView | undefined;
  subscribeEvent(id: string, listener: () => void): () => void;
  /** Loads everything again after a failure. */
  reload(): void;
}
