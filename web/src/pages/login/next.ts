/**
 * Where to go after the login: only addresses of this page, because a link must not lead elsewhere through the login.
 * The address is read as a browser reads it, since browsers drop tabs and turn backslashes around.
 */
export function safeNext(next: unknown, origin: string): string | undefined {
  if (typeof next !== 'string' || !next.startsWith('/')) return undefined;
  try {
    const url = new URL(next, origin);
    if (url.origin !== new URL(origin).origin || url.pathname.startsWith('//') || url.pathname === '/login')
      return undefined;
    return url.pathname + url.search + url.hash;
  } catch {
    return undefined;
  }
}
