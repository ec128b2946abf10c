/**
 * Characters that change the direction of text, and control characters other than tab and line breaks. They can make a
 * text look like something else, such as a file name with a different extension. src/jsx passes every rendered text
 * through this module, so components need not call it.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters to show.
const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns the text with these characters escaped, for example as \u202e. */
export function visible(text: string): string {
  return text.replace(hidden, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
