/** A mistake in a payload, with its position as editors show it. */
export interface Mistake {
  message: string;
  /** UTF-16 units from the start of the text, for the cursor; undefined if the mistake has no position. */
  offset?: number;
  line?: number;
  column?: number;
}

/** Returns a mistake at an offset of a text, with its line and column (in characters), both counted from 1. */
export function mistakeAt(text: string, offset: number, message: string): Mistake {
  const at = Math.min(Math.max(0, offset), text.length);
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  let line = 1;
  for (let i = text.indexOf('\n'); i !== -1 && i < at; i = text.indexOf('\n', i + 1)) line++;
  let column = 1;
  for (const _ of text.slice(lineStart, at)) column++;
  return { message, offset: at, line, column };
}

/** Returns "Line 3, column 7: …", or only the message. */
export function mistakeText({ message, line, column }: Mistake): string {
  return line === undefined ? message : `Line ${line}, column ${column}: ${message}`;
}
