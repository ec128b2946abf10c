/**
 * Goes to the login page with a full reload, so that nothing the previous user saw stays in memory: responses, live
 * sessions, the socket.
 */
export function leave(next?: string): void {
  const { pathname } = globalThis.location;
  if (pathname === '/login') return;
  globalThis.location.assign(next === undefined ? '/login' : `/login?next=${encodeURIComponent(next)}`);
}

/** Like leave, but returns to the current address after the login. */
export function leaveAndReturn(): void {
  const { pathname, search, hash } = globalThis.location;
  leave(pathname + search + hash);
}
