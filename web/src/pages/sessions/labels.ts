/**
 * Labels as the page's address carries them: name=value, separated by commas. A comma or backslash in a label has a backslash before
 * it.
 */

/** A label as people type it, without spaces around it; undefined if it has no name or no value. */
export function readLabel(text: string): string | undefined {
  const at = text.indexOf('=');
  const name = text.slice(0, Math.max(at, 0)).trim();
  const value = text.slice(at + 1).trim();
  return name === '' || value === '' ? undefined : `${name}=${value}`;
}

/** The labels of an address; what is no label is left out. */
export function splitLabels(text = ''): string[] {
  const parts = text.match(/(?:[^\\,]|\\[\s\S]|\\$)+/g) ?? [];
  return parts.map((part) => readLabel(part.replace(/\\([\s\S])/g, '$1'))).filter((label) => label !== undefined);
}

/** The address of labels; undefined for none. */
export function joinLabels(labels: readonly string[]): string | undefined {
  return labels.length === 0 ? undefined : labels.map((label) => label.replace(/[\\,]/g, '\\$&')).join();
}
