/**
 * The flat list of what the timeline shows, made of a session's structure. It knows which events there are and which belong
 * together; their text, and whether they are open, is up to the components that draw them.
 */
import { isOver } from '@/api/status';
import type { ExecutionDetail } from '@/api/types';
import type { EventView, ExecutionView, Lookup, SessionView, StageView } from '@/live/view';

/** One timeline event. A tool call carries the summaries that a model was given instead of its result. */
export interface EventRow {
  kind: 'event';
  key: string;
  eventId: string;
  summaries: readonly string[];
}

interface StageRow {
  kind: 'stage';
  key: string;
  stage: StageView;
}

export interface Lane {
  execution: ExecutionDetail;
  rows: readonly EventRow[];
}

/** Several agents that work at once, side by side. */
export interface ParallelRow {
  kind: 'parallel';
  key: string;
  stageId: string;
  lanes: readonly Lane[];
}

export type Row = { kind: 'header'; key: 'header' } | StageRow | EventRow | ParallelRow | { kind: 'end'; key: 'end' };

/** Where an event is: the row of the list and, inside a parallel block, its lane and the row there. */
export interface Place {
  row: number;
  lane?: number;
  laneRow?: number;
}

interface Rows {
  rows: readonly Row[];
  /** The place of every event, also of summaries, which are where their tool call is. */
  places: ReadonlyMap<string, Place>;
  /** How many events are shown as rows of their own. */
  events: number;
}

const noSummaries: readonly string[] = [];

/** Whether a stage's agents are shown side by side; known from its start, so that it does not change its look. */
export function isParallel(stage: StageView): boolean {
  return stage.executions.length > 1 || stage.stage.expected_agent_count > 1;
}

function summarisedCall(event: EventView | undefined): string | undefined {
  if (event?.event_type !== 'mcp_tool_summary') return undefined;
  const call = event.metadata?.tool_call_event_id;
  return typeof call === 'string' ? call : undefined;
}

/** Puts each summary to its tool call. One whose call is not among these events is a row of its own. */
export function pairSummaries(eventIds: readonly string[], lookup: Lookup): EventRow[] {
  const rows: EventRow[] = [];
  const byEvent = new Map<string, { row: EventRow; summaries: string[] }>();
  for (const eventId of eventIds) {
    const call = summarisedCall(lookup(eventId));
    const owner = call === undefined ? undefined : byEvent.get(call);
    if (owner) {
      owner.summaries.push(eventId);
      owner.row.summaries = owner.summaries;
      continue;
    }
    const row: EventRow = { kind: 'event', key: eventId, eventId, summaries: noSummaries };
    byEvent.set(eventId, { row, summaries: [] });
    rows.push(row);
  }
  return rows;
}

/** Remembers the rows of executions that did not change, so that a new event costs its own execution only. */
export class RowMemory {
  readonly #rows = new WeakMap<readonly string[], readonly EventRow[]>();

  rows(eventIds: readonly string[], lookup: Lookup): readonly EventRow[] {
    const known = this.#rows.get(eventIds);
    if (known) return known;
    const made = pairSummaries(eventIds, lookup);
    this.#rows.set(eventIds, made);
    return made;
  }
}

interface RowsOptions {
  /** Whether there is a block of the page above the stages. */
  header: boolean;
  /** An event's type, number and metadata do not change after it was created. */
  lookup: Lookup;
  memory?: RowMemory;
}

/** Makes the rows of a session, in the order in which things happened. Linear in the number of events. */
export function rowsOf(view: SessionView, options: RowsOptions): Rows {
  const memory = options.memory ?? new RowMemory();
  const rows: Row[] = options.header ? [{ kind: 'header', key: 'header' }] : [];
  const own = memory.rows(view.events, options.lookup);
  const over = isOver(view.session.status);
  let next = 0;
  let endShown = false;

  for (const stage of view.stages) {
    for (let row = own[next]; row && happenedBefore(row, stage, options.lookup); row = own[next]) {
      rows.push(row);
      next++;
    }
    // The investigation's end stands before the questions that people asked about it.
    if (over && !endShown && stage.stage.stage_type === 'chat') {
      rows.push({ kind: 'end', key: 'end' });
      endShown = true;
    }
    for (const row of stageRows(stage, options.lookup, memory)) rows.push(row);
  }
  for (const row of own.slice(next)) rows.push(row);
  if (!endShown) rows.push({ kind: 'end', key: 'end' });
  return { rows, ...index(rows) };
}

/** The ids of all events of a stage, for opening and folding them at once. */
export function eventsOf(stage: StageView): string[] {
  return [stage.events, ...stage.executions.map((execution) => execution.events)].flat();
}

function stageRows(stage: StageView, lookup: Lookup, memory: RowMemory): Row[] {
  const lanes = stage.executions.map((execution) => lane(execution, lookup, memory));
  const own = memory.rows(stage.events, lookup);
  const header: StageRow = { kind: 'stage', key: `stage-${stage.stage.id}`, stage };
  if (!isParallel(stage)) return [header, ...own, ...(lanes[0]?.rows ?? [])];
  if (lanes.length === 0) return [header, ...own];
  return [header, ...own, { kind: 'parallel', key: `parallel-${stage.stage.id}`, stageId: stage.stage.id, lanes }];
}

function lane(view: ExecutionView, lookup: Lookup, memory: RowMemory): Lane {
  return { execution: view.execution, rows: memory.rows(view.events, lookup) };
}

/** Whether an event of the session as a whole comes before a stage: by the events' numbers, else by the clock. */
function happenedBefore(row: EventRow, stage: StageView, lookup: Lookup): boolean {
  const event = lookup(row.eventId);
  if (!event) return false;
  const first = firstNumber(stage, lookup);
  if (first !== undefined) return event.sequence_number < first;
  return Date.parse(event.created_at) < Date.parse(stage.stage.created_at);
}

function firstNumber(stage: StageView, lookup: Lookup): number | undefined {
  let first: number | undefined;
  for (const ids of [stage.events, ...stage.executions.map((execution) => execution.events)]) {
    const number = ids[0] === undefined ? undefined : lookup(ids[0])?.sequence_number;
    if (number !== undefined && (first === undefined || number < first)) first = number;
  }
  return first;
}

function index(rows: readonly Row[]): { places: Map<string, Place>; events: number } {
  const places = new Map<string, Place>();
  let events = 0;
  const put = (row: EventRow, place: Place) => {
    events++;
    places.set(row.eventId, place);
    for (const summary of row.summaries) places.set(summary, place);
  };
  rows.forEach((row, at) => {
    if (row.kind === 'event') put(row, { row: at });
    if (row.kind === 'parallel') {
      row.lanes.forEach((each, laneAt) => {
        each.rows.forEach((laneRow, laneRowAt) => {
          put(laneRow, { row: at, lane: laneAt, laneRow: laneRowAt });
        });
      });
    }
  });
  return { places, events };
}
