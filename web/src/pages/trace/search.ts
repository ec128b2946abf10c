/** The state of the trace page in its address. */
export const kinds = ['stage', 'agent', 'llm', 'tool', 'gap'] as const;
export type Kind = (typeof kinds)[number];

export interface TraceFilter {
  /** Defaults to every kind. */
  kind?: Kind[];
  /** Only rows that failed or were cut off. */
  failed?: true;
  search?: string;
}

export interface TracePageSearch extends TraceFilter {
  /** The selected interaction. */
  call?: string;
  /** The two executions to compare. */
  left?: string;
  right?: string;
  /** The id of another session, to compare this one with. */
  compare?: string;
}

/** Reads the state from the page's address; unknown values are ignored. */
export function readTraceSearch(search: Record<string, unknown>): TracePageSearch {
  const named = textOf(search.kind)?.split(',') ?? search.kind;
  const kind = Array.isArray(named) ? kinds.filter((one) => named.includes(one)) : [];
  return {
    kind: kind.length > 0 ? kind : undefined,
    failed: search.failed === true || search.failed === 'true' || undefined,
    search: textOf(search.search),
    call: textOf(search.call),
    left: textOf(search.left),
    right: textOf(search.right),
    compare: textOf(search.compare),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function isFiltered({ kind, failed, search }: TraceFilter): boolean {
  return kind !== undefined || failed === true || search !== undefined;
}
