/** Longer texts are not looked into: parsing them would hold the page up. */
const longestParsed = 500_000;

/** JSON with its lines set apart; every other text as it is. */
export function prettyText(text: string): string {
  const trimmed = text.trim();
  if (!/^[[{]/.test(trimmed) || text.length > longestParsed) return text;
  try {
    return JSON.stringify(JSON.parse(trimmed), null, 2);
  } catch {
    return text;
  }
}

/** A value as JSON on several lines. */
export function prettyJson(value: unknown): string {
  return typeof value === 'string' ? prettyText(value) : (JSON.stringify(value, null, 2) ?? '');
}
