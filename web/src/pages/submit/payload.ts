/** The payload of an alert: text as it is, or JSON, or YAML that becomes JSON. Knows nothing of the form around it. */
import { jsonMistake } from './json';
import { type Mistake, mistakeAt } from './mistake';

export const formats = ['text', 'json', 'yaml'] as const;
export type PayloadFormat = (typeof formats)[number];

export const formatLabels: Record<PayloadFormat, string> = { text: 'Text', json: 'JSON', yaml: 'YAML' };

/** The largest body that the server takes, everything included. */
export const maxBytes = 1 << 20;

/** A payload that may be sent: `data` is the JSON that stands for it in the request. */
export type Checked = { ok: true; data: string } | { ok: false; mistake: Mistake };

const refuse = (mistake: Mistake): Checked => ({ ok: false, mistake });

/** What the server would say of a value that is neither text nor an object nor a list. */
export function notAnAlert(kind: string): Mistake {
  return { message: `The payload must be text, an object or a list, not ${kind}.` };
}

export function checkText(text: string): Checked {
  return { ok: true, data: JSON.stringify(text) };
}

/** JSON is sent as it was written: numbers that JavaScript cannot hold keep their digits. */
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
    ...notAnAlert(value === null ? 'null' : `a ${typeof value}`),
  });
}

/** The format of a text that nobody named: JSON where it is an object or a list, else text. */
export function recognise(text: string): PayloadFormat {
  if (!/^\s*[[{]/.test(text)) return 'text';
  return checkJSON(text).ok ? 'json' : 'text';
}

/** The format of a file: its name says what it is meant to be, its content decides where the name says nothing. */
export function recogniseFile(name: string, text: string): PayloadFormat {
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
  if (ending === 'json') return 'json';
  // JSON is YAML too, and stays exact only as itself.
  const found = recognise(text);
  if (ending === 'yaml' || ending === 'yml') return found === 'json' ? 'json' : 'yaml';
  if (found === 'json') return 'json';
  return /^---\s*\n/.test(text) ? 'yaml' : 'text';
}

/** How many bytes of UTF-8 a text takes. */
export function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
