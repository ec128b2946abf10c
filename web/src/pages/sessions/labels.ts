/** Labels in the page's address: name=value, comma-separated. A backslash escapes a comma or backslash in a label. */

/** Returns a typed label without surrounding spaces; undefined if the name or the value is missing. */
export function readLabel(text: string): string | undefined {
  const at = text.indexOf('=');
  const name = text.slice(0, Math.max(at, 0)).trim();
  const value = text.slice(at + 1).trim();
  return name === '' || value === '' ? undefined : `${name}=${value}`;
}

/** Adds a label. It replaces one with the same name: no alert has two, and the server rejects such a filter. */
export function addLabel(labels: readonly string[], label: string): string[] {
  const name = label.slice(0, label.indexOf('=') + 1);
  return [...labels.filter((other) => !other.startsWith(name)), label];
}

/** Parses the labels of an address; malformed ones are ignored. */
export function splitLabels(text = ''): string[] {
  const parts = text.match(/(?:[^\\,]|\\[\s\S]|\\$)+/g) ?? [];
  return parts
    .map((part) => readLabel(part.replace(/\\([\s\S])/g, '$1')))
    .filter((label) => label !== undefined)
    .reduce(addLabel, [] as string[]);
}

/** Formats labels for the address; undefined if there are none. */
export function joinLabels(labels: readonly string[]): string | undefined {
  return labels.length === 0 ? undefined : labels.map((label) => label.replace(/[\\,]/g, '\\$&')).join();
}
