/** The audit log: who did what, and who was refused. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query';
import { api, body } from './client';
import type { components } from './schema';

export type AuditEntry = components['schemas']['AuditEntry'];

/** The filter of the log, as in the page's address. */
export interface AuditFilter {
  actor?: string;
  action?: string;
  target_type?: string;
  target_id?: string;
  /** Times as in ISO 8601. */
  since?: string;
  until?: string;
}

const page = (filter: AuditFilter, limit: number, cursor: string, signal?: AbortSignal) =>
  body(api.GET('/api/v1/audit', { signal, params: { query: { ...filter, limit, cursor: cursor || undefined } } }));

export const auditLog = (filter: AuditFilter) =>
  infiniteQueryOptions({
    queryKey: ['audit', 'list', filter] as const,
    initialPageParam: '',
    queryFn: ({ pageParam, signal }) => page(filter, 50, pageParam, signal),
    getNextPageParam: (last) => last.next_cursor || undefined,
  });

/** The last row of the whole log; null if the log is empty. Its hash covers all rows before it. */
export const auditHead = () =>
  queryOptions({
    queryKey: ['audit', 'head'] as const,
    queryFn: async ({ signal }) => (await page({}, 1, '', signal)).entries[0] ?? null,
  });

/** The most rows that the page exports; the command has no limit. */
export const exportLimit = 10_000;

/** Returns the matching rows as JSON lines, the newest first, and whether there are more. */
export async function exportAudit(filter: AuditFilter): Promise<{ lines: string; rows: number; more: boolean }> {
  const rows: AuditEntry[] = [];
  let cursor = '';
  do {
    const next = await page(filter, 200, cursor);
    rows.push(...next.entries);
    cursor = next.next_cursor ?? '';
  } while (cursor !== '' && rows.length < exportLimit);
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
  return { lines, rows: rows.length, more: cursor !== '' };
}
