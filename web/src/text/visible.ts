/**
 * Characters that turn the direction of text around. With them a text reads as something that it is not, such as a file
 * whose name seems to end in another extension: every text of strangers that the page shows passes through here.
 */
const directions = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** The text with these characters as escapes that can be seen. */
export function visible(text: string): string {
  return text.replace(directions, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
