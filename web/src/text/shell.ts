/** A text as one word of a POSIX shell: bare where nothing in it needs quotes. NUL cannot be in a command; it is left out. */
export function shellQuote(text: string): string {
  if (/^[\w@%+=:,./-]+$/.test(text)) return text;
  return `'${text.replaceAll('\0', '').replaceAll("'", `'\\''`)}'`;
}
