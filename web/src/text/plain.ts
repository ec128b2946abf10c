/** What models write, as plain text: for rows, tooltips and notifications, where Markdown is not rendered. */
import { withoutMarks } from './citation';

/** One line without the marks of Markdown. Names that contain underscores stay whole. */
export function withoutMarkdown(line: string): string {
  return line
    .replace(/^[\s>#*+-]+/, '')
    .replace(/[*`]{1,3}|(?<![\p{L}\p{N}])_{1,2}|_{1,2}(?![\p{L}\p{N}])/gu, '')
    .trim();
}

/** A cause or another short text of a verdict in one paragraph, without the marks of calls and of Markdown. */
export function plainText(text: string): string {
  return withoutMarks(text).split('\n').map(withoutMarkdown).filter(Boolean).join(' ');
}
