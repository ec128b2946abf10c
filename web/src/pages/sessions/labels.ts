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

/** The labels with one more. It replaces one of the same name: no alert has two, and the server refuses to ask for that. */
export function addLabel(labels: readonly string[], label: string): string[] {
  const name = label.slice(0, label.indexOf('=') + 1);
  return [...labels.filter((other) => !other.startsWith(name)), label];
}

/** The labels of an address; what is no label is left out. */
export function splitLabels(text = ''): string[] {
  const parts = text.match(/(?:[^\\,]|\\[\s\S]|\\$)+/g) ?? [];
  return parts
    .map((part) => readLabel(part.replace(/\\([\s\S])/g, '$1')))
    .filter((label) => label !== undefined)
    .reduce(addLabel, [] as string[]);
}

/** The address of labels; undefined for none. */
export function joinLabels(labels: readonly string[]): string | undefined {
  return labels.length === 0 ? undefined : labels.map((label) => label.replace(/[\\,]/g, '\\$&')).join();
}
