/**
 * A live session as the pages see it. The structure (stages, executions, events and their order) changes rarely and is
 * one immutable snapshot; the text of an event changes often and is read only by the component that shows it. This
 * split keeps 200 chunks per second from re-rendering the page.
 */
import type { Problem } from '@/api/problem';
import type { ExecutionDetail, SessionDetail, StageDetail, TimelineEvent } from '@/api/types';

/** One entry of the timeline. If `truncated` is set, the content is a preview and the rest must be requested. */
export type EventView = TimelineEvent;

export interface ExecutionView {
  execution: ExecutionDetail;
  /** Ids of its events, in timeline order. */
  events: readonly string[];
}

export interface StageView {
  stage: StageDetail;
  executions: readonly ExecutionView[];
  /** Ids of events that belong to the stage but to none of its executions, such as a question. */
  events: readonly string[];
}

/** How fresh the view is. */
export type Freshness =
  /** The view is up to date. */
  | { state: 'live' }
  /** The connection is lost or missed events are being fetched: the view shows the state at `since`. */
  | { state: 'behind'; since: Date; reason: 'connecting' | 'catching-up' };

export interface SessionView {
  session: SessionDetail;
  stages: readonly StageView[];
  /** Ids of events that belong to no stage, such as the executive summary or an unreachable runbook. */
  events: readonly string[];
  /** The id of each tool call's event by the call's number, for citations. */
  calls: ReadonlyMap<string, string>;
  /** Ids of the events of tool calls waiting for an approval, in timeline order. */
  waiting: readonly string[];
  /** The number of the last journal event included. */
  version: number;
}

export type SessionState =
  | { phase: 'loading' }
  | { phase: 'failed'; problem: Problem }
  | { phase: 'ready'; view: SessionView; freshness: Freshness };

/** Finds an event by its id. */
export type Lookup = (id: string) => EventView | undefined;

/** A watched session: pages read it through useSession and useEvent (src/live/hooks.ts). */
export interface SessionStore {
  readonly sessionId: string;
  /** Returns the current state; the same object until the structure changes. */
  state(): SessionState;
  subscribe(listener: () => void): () => void;
  /** Returns one event; the same object until it changes. Undefined if there is no such event. */
  event(id: string): EventView | undefined;
  subscribeEvent(id: string, listener: () => void): () => void;
  /** Reloads everything after a failure. */
  reload(): void;
}
