/** The state of the Audit page in its address. */
import type { AuditFilter } from '@/api/audit';

const names = ['actor', 'action', 'target_type', 'target_id'] as const;

function time(value: unknown): string | undefined {
  return typeof value === 'string' && !Number.isNaN(Date.parse(value)) ? value : undefined;
}

/** Reads the filter from the page's address; unknown values are ignored. */
export function readAuditSearch(search: Record<string, unknown>): AuditFilter {
  const filter: AuditFilter = { since: time(search.since), until: time(search.until) };
  for (const name of names) {
    const value = search[name];
    if (typeof value === 'string' && value.trim() !== '') filter[name] = value.trim();
  }
  return filter;
}
