/**
 * Groups consecutive identical tool calls into one row: same agent, server, tool and arguments, with nothing between
 * them. Rows are created once per event and kept, so that a new call costs the same whether it is the third or the
 * thousandth.
 */
import { approvalOf } from '@/live/approval';
import type { EventView, Lookup } from '@/live/view';

/** One timeline event. A tool call includes the summaries that a model received instead of its result. */
export interface EventRow {
  kind: 'event';
  key: string;
  eventId: string;
  summaries: readonly string[];
  /** Whether it belongs to a group. */
  grouped: boolean;
}

/** Identical calls. If the group is open, the rows of its calls follow it. */
export interface GroupRow {
  kind: 'group';
  key: string;
  calls: readonly EventRow[];
}

export type ListRow = EventRow | GroupRow;

/** Fewer calls are shown one by one. */
export const fewestGrouped = 3;

/** Longer or deeper arguments are not compared. */
const longestArguments = 20_000;
const deepestArguments = 32;

const noSummaries: readonly string[] = [];

export function groupKey(firstEventId: string): string {
  return `group-${firstEventId}`;
}

/** Returns the first event of a row. */
export function firstEvent(row: ListRow): string {
  return row.kind === 'event' ? row.eventId : (row.calls[0]?.eventId ?? '');
}

/** Returns what identical calls have in common; undefined for other events and for calls too long to compare. */
export function signatureOf(event: EventView | undefined): string | undefined {
  if (event?.event_type !== 'llm_tool_call') return undefined;
  // Each call that needs an approval is a separate request and must never be collapsed out of sight.
  if (approvalOf(event)) return undefined;
  const { server_name: server, tool_name: tool, arguments: given } = event.metadata ?? {};
  if (typeof tool !== 'string' || tool === '') return undefined;
  const written = canonical(given ?? null, 0);
  if (written === undefined || written.length > longestArguments) return undefined;
  return JSON.stringify([typeof server === 'string' ? server : '', tool, written]);
}

/** Returns JSON with sorted object keys: the order in which a model writes them has no meaning. */
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

/** The rows of one list of events, which usually grows at its end. */
export class RowList {
  #ids: readonly string[] = [];
  #rows: ListRow[] = [];
  /** The index of each event's row and, for a call in a group, its index there. */
  readonly #places = new Map<string, { at: number; call?: number }>();
  /** The signature of the calls at the end of the list. */
  #signature: string | undefined;
  #run = 0;
  #shown: { open: string; rows: readonly ListRow[] } | undefined;

  /** Updates the rows. Any change other than new events at the end rebuilds all of them. */
  update(ids: readonly string[], lookup: Lookup): void {
    if (ids === this.#ids) return;
    const grown = ids.length >= this.#ids.length && this.#ids.every((id, at) => id === ids[at]);
    if (!grown) this.#forget();
    for (const id of ids.slice(this.#ids.length)) this.#add(id, lookup(id));
    this.#ids = ids;
    this.#shown = undefined;
  }

  /** Returns the rows, including the calls of open groups; the same list until something changes. */
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

  /** Adds a summary to its call. Returns false if the call is not in this list; the summary then gets its own row. */
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
