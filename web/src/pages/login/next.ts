/**
 * Returns where to go after the login. Only addresses of this dashboard are allowed, so that a login link cannot lead
 * elsewhere. The address is parsed like a browser does, because browsers drop tabs and turn backslashes into slashes.
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
