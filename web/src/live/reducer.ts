/**
 * Combines REST responses, journal events and chunks into what is known of a session. Pure: nothing here waits, sends
 * requests or modifies its arguments. There are many events, so the caller keeps them and a step returns only the
 * changed ones.
 */
import { isOver } from '@/api/status';
import type { SessionDetail, Timeline } from '@/api/types';
import { beginning } from '@/text/format';
import { approvalOf, waitsForApproval } from './approval';
import { type ChunkMessage, isRecorded, type JournalMessage } from './message';
import { mergeStages, nested, outline, regroup, withEvents, withExecution, withStage, withStages } from './structure';
import { addChunk, addSaved, isWhole, savedText, type Text } from './text';
import type { EventView, SessionView, StageView } from './view';

export interface Known {
  /** The structure. It keeps its identity while only texts and statuses of events change. */
  view: SessionView;
  /** The number of the last journal event included. */
  version: number;
  events: ReadonlyMap<string, EventView>;
  /** The texts still streaming. */
  texts: ReadonlyMap<string, Text>;
  /** Chunks of events that have not arrived yet. */
  held: readonly ChunkMessage[];
  /** The last journal event included in the last SessionDetail. */
  detailVersion: number;
  /** The journal event that set the current status of the session, a stage or an execution. */
  statusAt: ReadonlyMap<string, number>;
  /** The question that a stage answers, by stage, until the stage starts. */
  questions: ReadonlyMap<string, { chat_id: string; message_id: string }>;
  /** Whether there are events whose stage or execution is not known yet. */
  strays: boolean;
}

export interface Step {
  /** Without the events in `changed`, which the caller adds. */
  known: Known;
  changed: ReadonlyMap<string, EventView>;
  /** Events that have become final, in full, and whether the view keeps only a preview of them. */
  completed: readonly { event: EventView; cut: boolean }[];
  /** An event is missing; later events were ignored. */
  eventMissing: boolean;
  /** A SessionDetail is needed soon: the session has ended, or a chat or a question has started. */
  urgent: boolean;
}

/** How many chunks wait for events that have not arrived yet. */
const mostHeld = 256;
/** Final contents longer than this many preview lengths are cut to a preview, to bound the memory of the page. */
const longContent = 10;

/** Rebuilds everything from REST; final events that were already known keep their identity. */
export function fromRest(detail: SessionDetail, timeline: Timeline, before?: Known): Known {
  const events = new Map<string, EventView>();
  const texts = new Map<string, Text>();
  for (const event of timeline.events) {
    const old = before?.events.get(event.id);
    if (event.status !== 'streaming') {
      events.set(event.id, old?.status === event.status ? old : event);
      continue;
    }
    const known = before?.texts.get(event.id);
    const text =
      known && !event.truncated
        ? addSaved(known, event.content)
        : (known ?? savedText(event.content, event.content_length));
    texts.set(event.id, text);
    events.set(event.id, shown(event, text));
  }
  const find = (id: string) => events.get(id);
  const { stages, events: loose, strays } = regroup(outline(detail), events.values(), find);
  // The journal continues from the older of the two responses; events already in the newer one change nothing.
  const version = Math.min(detail.version, timeline.version);
  const calls = callsOf(events.values());
  const waiting = waitingOf(events.values());
  const view: SessionView = { session: detail, stages, events: loose, calls, waiting, version };
  return {
    view,
    version,
    events,
    texts,
    held: [],
    detailVersion: detail.version,
    statusAt: new Map(),
    questions: before?.questions ?? new Map(),
    strays,
  };
}

function callsOf(events: Iterable<EventView>, known?: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
  let calls: Map<string, string> | undefined;
  for (const { id, metadata } of events) {
    const call = metadata?.call;
    if (typeof call !== 'string' || (calls ?? known)?.get(call) === id) continue;
    calls ??= new Map(known);
    calls.set(call, id);
  }
  return calls ?? known ?? new Map();
}

function waitingOf(events: Iterable<EventView>): readonly string[] {
  return [...events]
    .filter(waitsForApproval)
    .sort((a, b) => a.sequence_number - b.sequence_number)
    .map((event) => event.id);
}

/** Returns an event with the text received so far. */
function shown(event: EventView, text: Text): EventView {
  // Other parts left out, such as arguments, are still missing.
  const otherwise = event.truncated && event.content.length >= event.content_length;
  return { ...event, content: text.content, content_length: text.length, truncated: !isWhole(text) || otherwise };
}

/** Merges a newer SessionDetail: usage, cost and times. Later reports of the journal are kept. */
export function withDetail(known: Known, detail: SessionDetail): Known {
  if (detail.version < known.detailVersion) return known;
  const newer = (id: string) => (known.statusAt.get(id) ?? 0) > detail.version;
  const old = known.view.session;
  const session = newer(old.id)
    ? {
        ...detail,
        status: old.status,
        error_code: old.error_code,
        error_message: old.error_message,
        concluded_early: old.concluded_early,
        outcome: old.outcome,
        cause: old.cause,
        started_at: old.started_at,
        completed_at: old.completed_at,
      }
    : detail;
  const merged = nested(mergeStages(known.view.stages, detail, newer));
  const find = (id: string) => known.events.get(id);
  const lists = known.strays
    ? regroup(merged, known.events.values(), find)
    : { stages: merged, events: known.view.events, strays: false };
  return {
    ...known,
    view: {
      ...pick(lists),
      session: withStages({ ...session, chat: detail.chat ?? old.chat }, lists.stages),
      calls: known.view.calls,
      waiting: known.view.waiting,
      version: known.version,
    },
    detailVersion: detail.version,
    strays: lists.strays,
  };
}

function pick({ stages, events }: Pick<SessionView, 'stages' | 'events'>) {
  return { stages, events };
}

/** Merges the saved text of an event. Undefined if it changes nothing. */
export function withSaved(known: Known, eventId: string, saved: string): Step | undefined {
  const event = known.events.get(eventId);
  const text = known.texts.get(eventId);
  if (event === undefined || text === undefined) return undefined;
  const next = addSaved(text, saved);
  if (next === text) return undefined;
  return {
    known: { ...known, texts: new Map(known.texts).set(eventId, next) },
    changed: new Map([[eventId, shown(event, next)]]),
    completed: [],
    eventMissing: false,
    urgent: false,
  };
}

/** Returns the events whose text has a gap. */
export function gaps(known: Known): string[] {
  return [...known.texts].filter(([, text]) => !isWhole(text)).map(([id]) => id);
}

/** Applies messages in order. */
export function reduce(
  known: Known,
  messages: readonly (JournalMessage | ChunkMessage)[],
  previewLength: number,
): Step {
  const draft = new Draft(known, previewLength);
  for (const message of messages) {
    if (message.type === 'stream.chunk') draft.chunk(message);
    else if (isRecorded(message)) draft.record(message);
  }
  return draft.step();
}

/** A step under construction. It copies what it changes. */
class Draft {
  private readonly changed = new Map<string, EventView>();
  private readonly added: EventView[] = [];
  private readonly completed: { event: EventView; cut: boolean }[] = [];
  private readonly texts: Map<string, Text>;
  private held: ChunkMessage[];
  private readonly statusAt: Map<string, number>;
  private readonly questions: Map<string, { chat_id: string; message_id: string }>;
  private session: SessionDetail;
  private stages: readonly StageView[];
  private version: number;
  private eventMissing = false;
  private urgent = false;

  constructor(
    private readonly before: Known,
    private readonly previewLength: number,
  ) {
    this.texts = new Map(before.texts);
    this.held = [...before.held];
    this.statusAt = new Map(before.statusAt);
    this.questions = new Map(before.questions);
    this.session = before.view.session;
    this.stages = before.view.stages;
    this.version = before.version;
  }

  private readonly find = (id: string) => this.changed.get(id) ?? this.before.events.get(id);

  record(message: JournalMessage) {
    if (message.db_event_id <= this.version) return;
    if (message.db_event_id > this.version + 1) {
      this.eventMissing = true;
      return;
    }
    this.eventMissing = false;
    this.version = message.db_event_id;
    switch (message.type) {
      case 'timeline_event.created':
        this.create(message);
        break;
      case 'timeline_event.completed':
        this.complete(message);
        break;
      case 'approval.status':
        this.approve(message);
        break;
      case 'chat.user_message':
        this.questions.set(message.stage_id, { chat_id: message.chat_id, message_id: message.message_id });
        this.urgent = true;
        break;
      default:
        // An event already included in the last SessionDetail would undo newer state.
        if (message.db_event_id > this.before.detailVersion) this.restructure(message);
    }
  }

  private restructure(message: JournalMessage) {
    const { timestamp } = message;
    switch (message.type) {
      case 'session.status': {
        const { status, concluded_early = '', error_code = '', error_message = '' } = message;
        const over = isOver(status);
        const started_at = this.session.started_at ?? (status === 'in_progress' ? timestamp : null);
        this.session = {
          ...this.session,
          ...{ status, concluded_early, error_code, error_message, started_at },
          completed_at: over ? timestamp : null,
        };
        this.statusAt.set(message.session_id, message.db_event_id);
        this.urgent ||= over;
        break;
      }
      case 'session.verdict':
        // The final status follows and triggers a request for the full verdict.
        this.session = { ...this.session, outcome: message.outcome, cause: message.cause };
        break;
      case 'stage.status':
        this.stages = withStage(this.stages, message, this.questions.get(message.stage_id));
        this.statusAt.set(message.stage_id, message.db_event_id);
        this.questions.delete(message.stage_id);
        if (message.status === 'started' && message.stage_type !== 'chat') {
          this.session = {
            ...this.session,
            current_stage_index: message.stage_index,
            current_stage_id: message.stage_id,
          };
        }
        break;
      case 'execution.status':
        this.stages = withExecution(this.stages, message) ?? this.stages;
        this.statusAt.set(message.execution_id, message.db_event_id);
        break;
      case 'chat.created':
        this.session = {
          ...this.session,
          chat: this.session.chat ?? {
            id: message.chat_id,
            session_id: message.session_id,
            created_by: message.created_by,
            created_at: timestamp,
            last_interaction_at: timestamp,
          },
        };
        this.urgent = true;
        break;
      default:
    }
  }

  private create(message: JournalMessage & { type: 'timeline_event.created' }) {
    if (this.find(message.event_id) !== undefined) return;
    const final = message.status !== 'streaming';
    const event: EventView = {
      id: message.event_id,
      session_id: message.session_id,
      stage_id: message.stage_id ?? null,
      execution_id: message.execution_id ?? null,
      sequence_number: message.sequence_number,
      event_type: message.event_type,
      status: message.status,
      content: message.content,
      metadata: message.metadata ?? null,
      created_at: message.timestamp,
      updated_at: message.timestamp,
      completed_at: final ? message.timestamp : null,
      content_length: message.content.length,
      truncated: false,
    };
    this.added.push(event);
    if (final) {
      this.finish(event);
      return;
    }
    this.changed.set(event.id, event);
    this.texts.set(event.id, savedText(event.content));
    const waiting = this.held.filter((chunk) => chunk.event_id === event.id);
    if (waiting.length === 0) return;
    this.held = this.held.filter((chunk) => chunk.event_id !== event.id);
    for (const chunk of waiting) this.chunk(chunk);
  }

  private complete(message: JournalMessage & { type: 'timeline_event.completed' }) {
    const event = this.find(message.event_id);
    if (event === undefined || event.status !== 'streaming') return;
    this.finish({
      ...event,
      status: message.status,
      content: message.content,
      metadata: message.metadata ?? event.metadata,
      updated_at: message.timestamp,
      completed_at: message.timestamp,
      content_length: message.content.length,
      truncated: false,
    });
  }

  /** Finishes an event. A long one is kept as a preview. */
  private finish(event: EventView) {
    this.texts.delete(event.id);
    if (this.held.length > 0) this.held = this.held.filter((chunk) => chunk.event_id !== event.id);
    const kept = preview(event, this.previewLength);
    this.completed.push({ event, cut: kept !== event });
    this.changed.set(event.id, kept);
  }

  chunk(message: ChunkMessage) {
    const event = this.find(message.event_id);
    if (event === undefined) {
      this.held.push(message);
      if (this.held.length > mostHeld) this.held.shift();
      return;
    }
    if (event.status !== 'streaming') return;
    const text = this.texts.get(event.id) ?? savedText(event.content, event.content_length);
    const next = addChunk(text, message);
    if (next === text) return;
    this.texts.set(event.id, next);
    if (next.content !== text.content || next.length !== text.length) this.changed.set(event.id, shown(event, next));
  }

  /**
   * A decided approval stays decided, and an event that has ended keeps its state: REST may be ahead of the journal.
   */
  private approve(message: JournalMessage & { type: 'approval.status' }) {
    const event = this.find(message.event_id);
    if (event === undefined || event.status !== 'streaming') return;
    const known = approvalOf(event);
    if (known !== undefined && known.status !== 'waiting' && message.approval.status === 'waiting') return;
    this.changed.set(event.id, {
      ...event,
      metadata: { ...event.metadata, approval_id: message.approval_id, approval: message.approval },
      updated_at: message.timestamp,
    });
  }

  /** Returns the same list unless a call starts or stops waiting. */
  private waiting(): readonly string[] {
    const { waiting } = this.before.view;
    const others = waiting.filter((id) => !this.changed.has(id) || waitsForApproval(this.find(id)));
    const more = [...this.changed.values()].filter((event) => waitsForApproval(event) && !waiting.includes(event.id));
    if (others.length === waiting.length && more.length === 0) return waiting;
    const all = [...others.flatMap((id) => this.find(id) ?? []), ...more];
    return waitingOf(all);
  }

  step(): Step {
    const { view, strays } = this.before;
    const stages = nested(this.stages);
    const lists = strays
      ? regroup(stages, new Map([...this.before.events, ...this.changed]).values(), this.find)
      : withEvents({ stages, events: view.events }, this.added, this.find);
    const rebuilt = lists.stages !== view.stages || this.session !== view.session;
    const session = rebuilt ? withStages(this.session, lists.stages) : view.session;
    const calls = callsOf(this.added, view.calls);
    const waiting = this.waiting();
    const moved = rebuilt || lists.events !== view.events || calls !== view.calls || waiting !== view.waiting;
    return {
      known: {
        ...this.before,
        view: moved ? { session, ...pick(lists), calls, waiting, version: this.version } : view,
        version: this.version,
        texts: this.texts,
        held: this.held,
        statusAt: this.statusAt,
        questions: this.questions,
        strays: lists.strays,
      },
      changed: this.changed,
      completed: this.completed,
      eventMissing: this.eventMissing,
      urgent: this.urgent,
    };
  }
}

/** Returns the event or, if it is long, its beginning, as REST returns previews. */
function preview(event: EventView, length: number): EventView {
  const longest = length * longContent;
  const longArguments = JSON.stringify(event.metadata?.arguments ?? null).length > longest;
  if (event.content.length <= longest && !longArguments) return event;
  const { arguments: _, ...metadata } = event.metadata ?? {};
  return {
    ...event,
    content:
      // A slice keeps the whole string alive; a copy does not.
      event.content.length > longest ? structuredClone(beginning(event.content, length)) : event.content,
    metadata: longArguments ? metadata : event.metadata,
    truncated: true,
  };
}
