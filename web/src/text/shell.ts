/** Quotes a text as one word for a POSIX shell, if it needs quotes. A command cannot contain NUL, so it is removed. */
export function shellQuote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}
