/**
 * Goes to the login page with a full reload, so that nothing the last person saw stays in memory: answers,
 * live sessions, the socket.
 */
export function leave(next?: string): void {
  const { pathname } = globalThis.location;
  if (pathname === '/login') return;
  globalThis.location.assign(next === undefined ? '/login' : `/login?next=${encodeURIComponent(next)}`);
}

/** The same, and back to the present address afterwards. */
export function leaveAndReturn(): void {
  const { pathname, search, hash } = globalThis.location;
  leave(pathname + search + hash);
}
