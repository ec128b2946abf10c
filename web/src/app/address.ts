/**
 * The search part of an address is plain text, with commas in lists. People who type an address, or read it in a chat,
 * see `status=failed,timed_out` rather than JSON. Parsed values are text; each page validates its own.
 */
export function parseSearch(search: string): Record<string, string> {
  return Object.fromEntries(new URLSearchParams(search));
}

export function stringifySearch(search: Record<string, unknown>): string {
  const written = new URLSearchParams();
  for (const [key, value] of Object.entries(search)) {
    const text = Array.isArray(value) ? value.join(',') : value === undefined || value === null ? '' : String(value);
    if (text !== '') written.set(key, text);
  }
  const line = written.toString().replaceAll('%2C', ',').replaceAll('%3A', ':').replaceAll('%2F', '/');
  return line === '' ? '' : `?${line}`;
}
