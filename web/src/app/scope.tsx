/** What the API key of the login allows. The server decides; this only keeps people from trying in vain. */
import { useQuery } from '@tanstack/react-query';
import * as queries from '@/api/queries';
import type { Me } from '@/api/types';

type Scope = Me['scopes'][number];

/** Whether the login has a scope; true until it is known. */
export function useScope(scope: Scope): boolean {
  return useQuery(queries.me()).data?.scopes.includes(scope) ?? true;
}

/** Says why nothing can be changed on a page; nothing where it can. */
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
