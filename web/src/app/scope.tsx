/** What the login's API key allows. The server enforces it; this only avoids requests that would be rejected. */
import { useQuery } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import type { Me } from '@/api/types';

type Scope = Me['scopes'][number];

/** Reports whether the login has a scope; true until the scopes are loaded. */
export function useScope(scope: Scope): boolean {
  return useQuery(queries.me()).data?.scopes.includes(scope) ?? true;
}

/** Explains that a page is read-only; renders nothing if it is not. */
export function ReadOnlyNotice() {
  if (useScope('write')) return null;
  return (
    <p
      className="rounded-md border border-line bg-surface px-3 py-2 text-ink-soft"
      role="note"
      data-testid="read-only-notice"
    >
      Your access is read-only. Log in with the role responder, or with a key that has the write scope to make changes.
    </p>
  );
}
