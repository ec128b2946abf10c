/** The payload of an alert: plain text, JSON, or YAML that is converted to JSON. Independent of the form around it. */
import { jsonMistake } from './json';
import { type Mistake, mistakeAt } from './mistake';

export const formats = ['text', 'json', 'yaml'] as const;
export type PayloadFormat = (typeof formats)[number];

export const formatLabels: Record<PayloadFormat, string> = { text: 'Text', json: 'JSON', yaml: 'YAML' };

/** The largest body that the server accepts, including everything. */
export const maxBytes = 1 << 20;

/** A checked payload: `data` is its JSON in the request. */
export type Checked = { ok: true; data: string } | { ok: false; mistake: Mistake };

const refuse = (mistake: Mistake): Checked => ({ ok: false, mistake });

/** The server's message about a value that is not a text, an object or a list. */
export function invalidPayloadKind(kind: string): Mistake {
  return { message: `The payload must be text, an object or a list, not ${kind}.` };
}

export function checkText(text: string): Checked {
  return { ok: true, data: JSON.stringify(text) };
}

/** JSON is sent as written: numbers outside JavaScript's range keep their digits. */
export function checkJSON(text: string): Checked {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(jsonMistake(text) ?? { message: 'Not valid JSON.' });
  }
  if (typeof value === 'string' || (typeof value === 'object' && value !== null))
    return { ok: true, data: text.trim() };
  return refuse({
    ...mistakeAt(text, text.search(/\S/), ''),
    ...invalidPayloadKind(value === null ? 'null' : `a ${typeof value}`),
  });
}

/** Detects the format of a text: JSON if it is an object or a list, otherwise text. */
export function recognise(text: string): PayloadFormat {
  if (!/^\s*[[{]/.test(text)) return 'text';
  return checkJSON(text).ok ? 'json' : 'text';
}

/** Detects the format of a file from its name or, if that is inconclusive, from its content. */
export function recogniseFile(name: string, text: string): PayloadFormat {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === 'json') return 'json';
  // JSON is also valid YAML, but only as JSON does it keep its exact text.
  const found = recognise(text);
  if (ending === 'yaml' || ending === 'yml') return found === 'json' ? 'json' : 'yaml';
  if (found === 'json') return 'json';
  return /^---\s*\n/.test(text) ? 'yaml' : 'text';
}

/** Returns the length of a text in UTF-8 bytes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
