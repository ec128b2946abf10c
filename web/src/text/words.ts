/** Makes a search of what somebody typed: whether every word of it occurs in one of some texts. Nothing typed finds all. */
export function searchFor(typed: string): (...texts: readonly string[]) => boolean {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  return (...texts) => {
    const all = texts.join('\n').toLowerCase();
    return words.every((word) => all.includes(word));
  };
}
