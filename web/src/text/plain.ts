/** Converts texts of models to plain text, for rows, tooltips and notifications, where Markdown is not rendered. */
import { withoutMarks } from './citation';

/** Removes Markdown syntax from a line. Names that contain underscores stay intact. */
export function withoutMarkdown(line: string): string {
  return line
    .replace(/^[\s>#*+-]+/, '')
    .replace(/[*`]{1,3}|(?<![\p{L}\p{N}])_{1,2}|_{1,2}(?![\p{L}\p{N}])/gu, '')
    .trim();
}

/** Returns a cause or another short text of a verdict as one paragraph, without citations and Markdown syntax. */
export function plainText(text: string): string {
  return withoutMarks(text).split('\n').map(withoutMarkdown).filter(Boolean).join(' ');
}
