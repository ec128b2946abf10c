const id = /[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/i;

/**
 * Returns the session id in pasted text: the id itself, or the address of one of the session's pages. Empty if there is
 * none.
 */
export function sessionIdIn(text: string): string {
  const trimmed = text.trim();
  const found = id.exec(trimmed)?.[0] ?? '';
  const alone = found === trimmed || trimmed.includes(`/sessions/${found}`);
  return found !== '' && alone ? found.toLowerCase() : '';
}
