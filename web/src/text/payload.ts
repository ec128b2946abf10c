/**
 * Formats alerts, arguments and results for reading: JSON is indented. They are untrusted and may be huge or deeply
 * nested.
 */

const longestJSON = 1_000_000;
const deepestJSON = 64;

interface Payload {
  text: string;
  json: boolean;
}

/** Indents JSON. Other text, and JSON that is too long or too deep, is returned unchanged. */
export function payloadOf(value: unknown): Payload {
  if (typeof value !== 'string') return valuePayload(value);
  const start = value.slice(0, 200).trimStart()[0];
  if ((start !== '{' && start !== '[') || value.length > longestJSON || depthOf(value) > deepestJSON) {
    return { text: value, json: false };
  }
  try {
    return { text: JSON.stringify(JSON.parse(value), null, 2), json: true };
  } catch {
    return { text: value, json: false };
  }
}

function valuePayload(value: unknown): Payload {
  try {
    // Serialized in one line first: the indentation of a very deep value can exceed the longest string of a browser.
    const line = JSON.stringify(value) ?? '';
    if (line.length > longestJSON || depthOf(line) > deepestJSON) return { text: line, json: true };
    return { text: JSON.stringify(value, null, 2) ?? '', json: true };
  } catch {
    return { text: 'Too deeply nested to show.', json: false };
  }
}

/** Returns the nesting depth of a JSON text without parsing it. */
export function depthOf(json: string): number {
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let at = 0; at < json.length; at++) {
    const char = json[at];
    if (quoted) {
      if (char === '\\') at++;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === '{' || char === '[') deepest = Math.max(deepest, ++depth);
    else if (char === '}' || char === ']') depth--;
  }
  return deepest;
}
