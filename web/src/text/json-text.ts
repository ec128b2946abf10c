/**
 * Handles JSON as text. JSON.parse rounds long numbers and loses how they were written; what a person approves must be
 * what is sent, digit by digit. Nothing here changes a string or a number.
 */
import { depthOf } from './payload';

const longest = 1_000_000;
const deepest = 64;

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/gs;

/** Indents JSON. JSON that is too long or too deep is returned unchanged. */
export function indented(json: string): string {
  if (json.length > longest || depthOf(json) > deepest) return json;
  const parts = json.match(token) ?? [];
  let text = '';
  let depth = 0;
  const line = () => {
    text += `\n${'  '.repeat(depth)}`;
  };
  parts.forEach((part, at) => {
    const next = parts[at + 1];
    switch (part) {
      case '{':
      case '[':
        text += part;
        if (next === '}' || next === ']') return;
        depth++;
        line();
        return;
      case '}':
      case ']':
        if (parts[at - 1] !== '{' && parts[at - 1] !== '[') {
          depth = Math.max(0, depth - 1);
          line();
        }
        text += part;
        return;
      case ',':
        text += part;
        line();
        return;
      case ':':
        text += ': ';
        return;
      default:
        text += part;
    }
  });
  return text;
}

/**
 * Returns the text of a member of a JSON object; undefined if there is none. Of duplicates the last one wins, as in
 * JSON.parse.
 */
export function memberText(json: string, name: string): string | undefined {
  let depth = 0;
  let key: string | undefined;
  let start = -1;
  let found: string | undefined;
  for (const match of json.matchAll(token)) {
    const [part] = match;
    const ends = depth === 1 && (part === ',' || part === '}');
    if (ends && start >= 0) {
      if (key === name) found = json.slice(start, match.index).trim();
      key = undefined;
      start = -1;
    }
    if (part === '{' || part === '[') depth++;
    else if (part === '}' || part === ']') depth--;
    else if (depth === 1 && start < 0) {
      if (part === ':') start = match.index + 1;
      else if (part.startsWith('"')) key = nameOf(part);
    }
  }
  return found;
}

function nameOf(text: string): string | undefined {
  try {
    const name: unknown = JSON.parse(text);
    return typeof name === 'string' ? name : undefined;
  } catch {
    return undefined;
  }
}
