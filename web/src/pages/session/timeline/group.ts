/**
 * Identical tool calls in a row as one: the same server, tool and arguments, by one agent, with nothing between them. Rows are
 * made once for each event and kept, so that a call that comes costs the same whether it is the third or the thousandth.
 */
import { approvalOf } from '@/live/approval';
import type { EventView, Lookup } from '@/live/view';

/** One timeline event. A tool call carries the summaries that a model was given instead of its result. */
export interface EventRow {
  kind: 'event';
  key: string;
  eventId: string;
  summaries: readonly string[];
  /** Whether it is one of the calls of a group. */
  grouped: boolean;
}

/** Identical calls. Where it is open, the rows of its calls follow it. */
export interface GroupRow {
  kind: 'group';
  key: string;
  calls: readonly EventRow[];
}

export type ListRow = EventRow | GroupRow;

/** Fewer are shown one by one. */
export const fewestGrouped = 3;

/** Arguments that are longer or deeper are not compared. */
const longestArguments = 20_000;
const deepestArguments = 32;

const noSummaries: readonly string[] = [];

export function groupKey(firstEventId: string): string {
  return `group-${firstEventId}`;
}

/** The event that a row begins with. */
export function firstEvent(row: ListRow): string {
  return row.kind === 'event' ? row.eventId : (row.calls[0]?.eventId ?? '');
}

/** What two identical calls have in common; undefined for what is no call, and for one too long to compare. */
export function signatureOf(event: EventView | undefined): string | undefined {
  if (event?.event_type !== 'llm_tool_call') return undefined;
  // Each call that needs an approval is a request of its own, and none may be folded out of sight.
  if (approvalOf(event)) return undefined;
  const { server_name: server, tool_name: tool, arguments: given } = event.metadata ?? {};
  if (typeof tool !== 'string' || tool === '') return undefined;
  const written = canonical(given ?? null, 0);
  if (written === undefined || written.length > longestArguments) return undefined;
  return JSON.stringify([typeof server === 'string' ? server : '', tool, written]);
}

/** JSON with the keys of objects in order: the order in which a model writes them means nothing. */
function canonical(value: unknown, depth: number): string | undefined {
  if (depth > deepestArguments) return undefined;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const list = Array.isArray(value);
  const parts: string[] = [];
  let length = 0;
  for (const key of list ? value.keys() : Object.keys(value).sort()) {
    const item = canonical((value as Record<string | number, unknown>)[key], depth + 1);
    if (item === undefined) return undefined;
    const part = list ? item : `${JSON.stringify(key)}:${item}`;
    length += part.length;
    if (length > longestArguments) return undefined;
    parts.push(part);
  }
  return list ? `[${parts.join()}]` : `{${parts.join()}}`;
}

function summarisedCall(event: EventView | undefined): string | undefined {
  if (event?.event_type !== 'mcp_tool_summary') return undefined;
  const call = event.metadata?.tool_call_event_id;
  return typeof call === 'string' ? call : undefined;
}

/** The rows of one list of events, which mostly grows at its end. */
export class RowList {
  #ids: readonly string[] = [];
  #rows: ListRow[] = [];
  /** Where the row of each event is: in the list and, of a call in a group, there. */
  readonly #places = new Map<string, { at: number; call?: number }>();
  /** What the calls at the end of the list have in common. */
  #signature: string | undefined;
  #run = 0;
  #shown: { open: string; rows: readonly ListRow[] } | undefined;

  /** Brings the rows up to date. What is not new at the end makes all rows again. */
  update(ids: readonly string[], lookup: Lookup): void {
    if (ids === this.#ids) return;
    const grown = ids.length >= this.#ids.length && this.#ids.every((id, at) => id === ids[at]);
    if (!grown) this.#forget();
    for (const id of ids.slice(this.#ids.length)) this.#add(id, lookup(id));
    this.#ids = ids;
    this.#shown = undefined;
  }

  /** The rows with the calls of open groups; the same list until something of it changes. */
  rows(isOpen: (group: GroupRow) => boolean): readonly ListRow[] {
    const open = this.#rows.filter((row) => row.kind === 'group' && isOpen(row));
    const keys = open.map((row) => row.key).join(' ');
    if (this.#shown?.open === keys) return this.#shown.rows;
    const opened = new Set(open);
    const rows = this.#rows.flatMap((row) => (row.kind === 'group' && opened.has(row) ? [row, ...row.calls] : row));
    this.#shown = { open: keys, rows };
    return rows;
  }

  #forget(): void {
    this.#ids = [];
    this.#rows = [];
    this.#places.clear();
    this.#signature = undefined;
    this.#run = 0;
  }

  #add(eventId: string, event: EventView | undefined): void {
    const call = summarisedCall(event);
    if (call !== undefined && this.#summarise(call, eventId)) return;
    const row: EventRow = { kind: 'event', key: eventId, eventId, summaries: noSummaries, grouped: false };
    const signature = signatureOf(event);
    this.#run = signature !== undefined && signature === this.#signature ? this.#run + 1 : 1;
    this.#signature = signature;
    if (signature === undefined || this.#run < fewestGrouped) {
      this.#places.set(eventId, { at: this.#rows.length });
      this.#rows.push(row);
    } else if (this.#run === fewestGrouped) this.#form(row);
    else this.#join(row);
  }

  /** Makes a group of the last rows and a new one. */
  #form(row: EventRow): void {
    const at = this.#rows.length - (fewestGrouped - 1);
    const alone = this.#rows.splice(at) as EventRow[];
    const calls = [...alone, row].map((each) => ({ ...each, grouped: true }));
    calls.forEach((each, call) => {
      this.#places.set(each.eventId, { at, call });
    });
    this.#rows.push({ kind: 'group', key: groupKey(firstEvent(calls[0] ?? row)), calls });
  }

  #join(row: EventRow): void {
    const at = this.#rows.length - 1;
    const group = this.#rows[at];
    if (group?.kind !== 'group') return;
    this.#places.set(row.eventId, { at, call: group.calls.length });
    this.#rows[at] = { ...group, calls: [...group.calls, { ...row, grouped: true }] };
  }

  /** Puts a summary to its call. One whose call is not in this list is a row of its own. */
  #summarise(call: string, summary: string): boolean {
    const place = this.#places.get(call);
    const row = place && this.#rows[place.at];
    if (!place || !row) return false;
    const withSummary = (each: EventRow): EventRow => ({ ...each, summaries: [...each.summaries, summary] });
    if (row.kind === 'event') this.#rows[place.at] = withSummary(row);
    else {
      const calls = row.calls.map((each, at) => (at === place.call ? withSummary(each) : each));
      this.#rows[place.at] = { ...row, calls };
    }
    return true;
  }
}
