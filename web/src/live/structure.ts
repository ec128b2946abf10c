/**
 * The structure of a session: its stages, executions and events, and their order. Pure functions that derive new
 * structures from old ones and share the unchanged parts.
 */
import type { ExecutionDetail, SessionDetail, StageDetail, Usage } from '@/api/types';
import type { ExecutionStatusMessage, StageStatusMessage } from './message';
import type { EventView, ExecutionView, Lookup, SessionView, StageView } from './view';

type Ids = readonly string[];

export const nothingUsed: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  thinking_tokens: 0,
  cached_tokens: 0,
  total_tokens: 0,
  cost_usd: 0,
  unpriced_tokens: 0,
};

/** Returns the structure of a REST response, without events. */
export function outline(session: SessionDetail): readonly StageView[] {
  return session.stages.map((stage) => ({
    stage,
    executions: stage.executions.map((execution) => ({ execution, events: [] })),
    events: [],
  }));
}

/**
 * Maps a journal status to the status of the row: a stage or execution that has started is `active` in REST and
 * `started` in the journal.
 */
function rowStatus(status: string): string {
  return status === 'started' ? 'active' : status;
}

function times(status: string, timestamp: string, startedAt: string | null) {
  const active = rowStatus(status) === 'active';
  return { started_at: active ? timestamp : startedAt, completed_at: active ? null : timestamp };
}

/** Applies a stage's new status. Fields of a new stage that the message lacks stay empty until REST provides them. */
export function withStage(
  stages: readonly StageView[],
  message: StageStatusMessage,
  question?: { chat_id: string; message_id: string },
): readonly StageView[] {
  const known = stages.find((view) => view.stage.id === message.stage_id);
  const stage: StageDetail = {
    ...(known?.stage ?? {
      id: message.stage_id,
      session_id: message.session_id,
      stage_name: message.stage_name,
      stage_type: message.stage_type,
      stage_index: message.stage_index,
      expected_agent_count: message.expected_agent_count,
      parallel_type: null,
      success_policy: null,
      chat_id: question?.chat_id ?? null,
      chat_user_message_id: question?.message_id ?? null,
      error_message: '',
      created_at: message.timestamp,
      usage: nothingUsed,
      tool_calls: 0,
      executions: [],
    }),
    status: rowStatus(message.status),
    ...times(message.status, message.timestamp, known?.stage.started_at ?? null),
  };
  return put(stages, { executions: [], events: [], ...known, stage }, stageId, stageOrder);
}

/** Applies an execution's new status. Undefined if the stage is not known: REST will provide both. */
export function withExecution(
  stages: readonly StageView[],
  message: ExecutionStatusMessage,
): readonly StageView[] | undefined {
  const stage = stages.find((view) => view.stage.id === message.stage_id);
  if (stage === undefined) return undefined;
  const known = stage.executions.find((view) => view.execution.id === message.execution_id);
  const execution: ExecutionDetail = {
    ...(known?.execution ?? {
      id: message.execution_id,
      session_id: message.session_id,
      stage_id: message.stage_id,
      agent_name: message.agent_name,
      agent_index: message.agent_index,
      iteration_strategy: '',
      llm_provider: '',
      forced_conclusion: '',
      shortened_through: 0,
      error_code: '',
      created_at: message.timestamp,
      usage: nothingUsed,
      tool_calls: 0,
    }),
    status: rowStatus(message.status),
    error_message: message.error_message ?? '',
    ...times(message.status, message.timestamp, known?.execution.started_at ?? null),
  };
  const executions = put(stage.executions, { events: [], ...known, execution }, executionId, executionOrder);
  return put(stages, { ...stage, executions }, stageId, stageOrder);
}

const stageId = (view: StageView) => view.stage.id;
const stageOrder = (view: StageView) => view.stage.stage_index;
const executionId = (view: ExecutionView) => view.execution.id;
const executionOrder = (view: ExecutionView) => view.execution.agent_index;

/** Replaces the item with the same id, or inserts it in order. */
function put<T>(items: readonly T[], item: T, id: (item: T) => string, order: (item: T) => number): readonly T[] {
  const others = items.filter((other) => id(other) !== id(item));
  return [...others, item].sort((a, b) => order(a) - order(b));
}

/**
 * Merges the stages from REST into the known ones. `newer` reports whether the journal has a later status than REST;
 * then the known status is kept.
 */
export function mergeStages(
  known: readonly StageView[],
  detail: SessionDetail,
  newer: (id: string) => boolean,
): readonly StageView[] {
  const reported = detail.stages.map((stage): StageView => {
    const old = known.find((view) => view.stage.id === stage.id);
    const executions = stage.executions.map((execution): ExecutionView => {
      const before = old?.executions.find((view) => view.execution.id === execution.id);
      return before
        ? { ...before, execution: mergeRow(before.execution, execution, newer(execution.id)) }
        : { execution, events: [] };
    });
    const unreported = (old?.executions ?? []).filter(
      (view) => !stage.executions.some((execution) => execution.id === view.execution.id),
    );
    return {
      stage: mergeRow(old?.stage ?? stage, stage, newer(stage.id)),
      executions: [...executions, ...unreported],
      events: old?.events ?? [],
    };
  });
  const unreported = known.filter((view) => !detail.stages.some((stage) => stage.id === view.stage.id));
  return [...reported, ...unreported];
}

type Row = { status: string; error_message: string; started_at: string | null; completed_at: string | null };

function mergeRow<T extends Row>(known: T, reported: T, keepStatus: boolean): T {
  if (!keepStatus) return reported;
  const { status, error_message, started_at, completed_at } = known;
  return { ...reported, status, error_message, started_at, completed_at };
}

/** Returns the session with the stages of the view. */
export function withStages(session: SessionDetail, stages: readonly StageView[]): SessionDetail {
  return { ...session, stages: stages.map((view) => view.stage) };
}

/** Copies the executions of each view into its stage. */
export function nested(stages: readonly StageView[]): readonly StageView[] {
  const agree = ({ stage, executions }: StageView) =>
    stage.executions.length === executions.length &&
    stage.executions.every((execution, n) => execution === executions[n]?.execution);
  if (stages.every(agree)) return stages;
  return stages.map((view) =>
    agree(view) ? view : { ...view, stage: { ...view.stage, executions: view.executions.map((one) => one.execution) } },
  );
}

type Lists = Pick<SessionView, 'stages' | 'events'>;

/** Adds new events to their stages and executions. `strays` reports whether any stage or execution is not known yet. */
export function withEvents(lists: Lists, added: readonly EventView[], find: Lookup): Lists & { strays: boolean } {
  if (added.length === 0) return { ...lists, strays: false };
  const groups = new Map<string, string[]>();
  const places = new Set(lists.stages.flatMap((stage) => [stageId(stage), ...stage.executions.map(executionId)]));
  let strays = false;
  for (const event of added) {
    const wanted = event.execution_id ?? event.stage_id;
    const place = [event.execution_id, event.stage_id].find((id) => id != null && places.has(id)) ?? '';
    strays ||= wanted !== null && wanted !== place;
    const group = groups.get(place);
    if (group === undefined) groups.set(place, [event.id]);
    else group.push(event.id);
  }
  const grown = (ids: Ids, place: string) => inOrder(ids, groups.get(place) ?? [], find);
  const stages = lists.stages.map((stage) => {
    const executions = stage.executions.map((view) => {
      const events = grown(view.events, executionId(view));
      return events === view.events ? view : { ...view, events };
    });
    const events = grown(stage.events, stageId(stage));
    const same = events === stage.events && executions.every((view, n) => view === stage.executions[n]);
    return same ? stage : { ...stage, executions, events };
  });
  return { stages, events: grown(lists.events, ''), strays };
}

/** Assigns all events to their stages and executions again. */
export function regroup(stages: readonly StageView[], events: Iterable<EventView>, find: Lookup) {
  const empty = stages.map((view) => ({
    ...view,
    events: [],
    executions: view.executions.map((one) => ({ ...one, events: [] })),
  }));
  return withEvents({ stages: empty, events: [] }, [...events], find);
}

/** Adds ids in timeline order. New ids usually come last, and then nothing is sorted. */
function inOrder(ids: Ids, added: Ids, find: Lookup): Ids {
  if (added.length === 0) return ids;
  const place = (id: string) => find(id)?.sequence_number ?? 0;
  const all = [...ids, ...added];
  for (let n = Math.max(1, ids.length); n < all.length; n++) {
    if (place(all[n - 1] ?? '') > place(all[n] ?? '')) return all.sort((a, b) => place(a) - place(b));
  }
  return all;
}
