/** Where a payload is wrong, as an editor would say it. */
export interface Mistake {
  message: string;
  /** UTF-16 units from the start of the text, for the cursor; undefined where the whole is wrong. */
  offset?: number;
  line?: number;
  column?: number;
}

/** A mistake at an offset of a text, with the line and the column (in characters, both from 1) that people count. */
export function mistakeAt(text: string, offset: number, message: string): Mistake {
  const at = Math.min(Math.max(0, offset), text.length);
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  let line = 1;
  for (let i = text.indexOf('\n'); i !== -1 && i < at; i = text.indexOf('\n', i + 1)) line++;
  let column = 1;
  for (const _ of text.slice(lineStart, at)) column++;
  return { message, offset: at, line, column };
}

/** "line 3, column 7: …", or the message alone. */
export function mistakeText({ message, line, column }: Mistake): string {
  return line === undefined ? message : `Line ${line}, column ${column}: ${message}`;
}
