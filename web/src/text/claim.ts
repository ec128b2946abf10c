/** Returns the sentence that a citation is in or follows, given the text of its paragraph before and after it. */
export function claimAt(before: string, after: string): string {
  const sentences = (text: string) => text.split(/(?<=[.!?])\s+/).filter((part) => part.trim() !== '');
  const own = sentences(before.trimEnd()).at(-1) ?? '';
  const rest = /^\s*([.!?]|$)/.test(after) || /[.!?]\s*$/.test(before) ? '' : (sentences(after)[0] ?? '');
  return `${own.trim()} ${rest.trim()}`.trim();
}
