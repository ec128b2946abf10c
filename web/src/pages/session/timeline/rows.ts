/**
 * Builds the flat list of the timeline's rows from the structure of a session: which events there are and which belong
 * together. Their text, and whether they are open, is up to the components that render them.
 */
import { isOver } from '@/api/status';
import type { ExecutionDetail } from '@/api/types';
import type { ExecutionView, Lookup, SessionView, StageView } from '@/live/view';
import { type EventRow, firstEvent, type GroupRow, type ListRow, RowList } from './group';

interface StageRow {
  kind: 'stage';
  key: string;
  stage: StageView;
}

export interface Lane {
  execution: ExecutionDetail;
  rows: readonly ListRow[];
}

/** Agents that run in parallel, side by side. */
export interface ParallelRow {
  kind: 'parallel';
  key: string;
  stageId: string;
  lanes: readonly Lane[];
}

export type Row = { kind: 'header'; key: 'header' } | StageRow | ListRow | ParallelRow | { kind: 'end'; key: 'end' };

/** The position of an event: its row in the list and, in a parallel block, its lane and the row there. */
export interface Place {
  row: number;
  lane?: number;
  laneRow?: number;
  /** The event's group, if it is collapsed: the position is then the group's. */
  group?: string;
}

interface Rows {
  rows: readonly Row[];
  /** The position of every event; a summary has that of its tool call. */
  places: ReadonlyMap<string, Place>;
  /** How many events have their own row. */
  events: number;
}

/**
 * Reports whether a stage's agents are shown side by side. Known from the start of the stage, so that its layout does
 * not change.
 */
export function isParallel(stage: StageView): boolean {
  return stage.executions.length > 1 || stage.stage.expected_agent_count > 1;
}

/** Keeps the rows of every list of events, so that a new event only updates its own list. */
export class RowMemory {
  readonly #lists = new Map<string, RowList>();

  /** `list` identifies the list: an execution, a stage, or the session. */
  rows(list: string, eventIds: readonly string[], options: Pick<RowsOptions, 'lookup' | 'isOpen'>): readonly ListRow[] {
    const known = this.#lists.get(list) ?? new RowList();
    this.#lists.set(list, known);
    known.update(eventIds, options.lookup);
    return known.rows(options.isOpen ?? (() => false));
  }
}

interface RowsOptions {
  /** Whether there is a header above the stages. */
  header: boolean;
  /** The type, number and metadata of an event do not change after its creation. */
  lookup: Lookup;
  /** Whether the calls of a group are shown one by one. */
  isOpen?: (group: GroupRow) => boolean;
  memory?: RowMemory;
}

/** Returns the rows of a session in chronological order. Linear in the number of events. */
export function rowsOf(view: SessionView, options: RowsOptions): Rows {
  const memory = options.memory ?? new RowMemory();
  const rows: Row[] = options.header ? [{ kind: 'header', key: 'header' }] : [];
  const own = memory.rows('session', view.events, options);
  const over = isOver(view.session.status);
  let next = 0;
  let endShown = false;

  for (const stage of view.stages) {
    for (let row = own[next]; row && happenedBefore(row, stage, options.lookup); row = own[next]) {
      rows.push(row);
      next++;
    }
    // The end of the investigation precedes people's follow-up questions.
    if (over && !endShown && stage.stage.stage_type === 'chat') {
      rows.push({ kind: 'end', key: 'end' });
      endShown = true;
    }
    for (const row of stageRows(stage, options, memory)) rows.push(row);
  }
  for (const row of own.slice(next)) rows.push(row);
  if (!endShown) rows.push({ kind: 'end', key: 'end' });
  return { rows, ...index(rows) };
}

/** Returns the ids of all events of a stage, for expanding and collapsing them together. */
export function eventsOf(stage: StageView): string[] {
  return [stage.events, ...stage.executions.map((execution) => execution.events)].flat();
}

function stageRows(stage: StageView, options: RowsOptions, memory: RowMemory): Row[] {
  const lanes = stage.executions.map((execution) => lane(execution, options, memory));
  const own = memory.rows(stage.stage.id, stage.events, options);
  const header: StageRow = { kind: 'stage', key: `stage-${stage.stage.id}`, stage };
  if (!isParallel(stage)) return [header, ...own, ...(lanes[0]?.rows ?? [])];
  if (lanes.length === 0) return [header, ...own];
  return [header, ...own, { kind: 'parallel', key: `parallel-${stage.stage.id}`, stageId: stage.stage.id, lanes }];
}

function lane(view: ExecutionView, options: RowsOptions, memory: RowMemory): Lane {
  return { execution: view.execution, rows: memory.rows(view.execution.id, view.events, options) };
}

/** Reports whether a session-level event precedes a stage: by sequence number, else by time. */
function happenedBefore(row: ListRow, stage: StageView, lookup: Lookup): boolean {
  const event = lookup(firstEvent(row));
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
  const putEvent = (row: EventRow, place: Place) => {
    places.set(row.eventId, place);
    for (const summary of row.summaries) places.set(summary, place);
  };
  const put = (row: ListRow, place: Place) => {
    if (row.kind === 'event') {
      // The calls of a group were counted with the group.
      if (!row.grouped) events++;
      putEvent(row, place);
      return;
    }
    events += row.calls.length;
    // If the group is open, the rows of its calls follow and their positions replace these.
    for (const call of row.calls) putEvent(call, { ...place, group: row.key });
  };
  rows.forEach((row, at) => {
    if (row.kind === 'event' || row.kind === 'group') put(row, { row: at });
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
