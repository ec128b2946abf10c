/** Edited arguments: whether they are a JSON object, and whether they differ from the model's. */
import { jsonMistake } from '@/pages/submit/json';
import { mistakeText } from '@/pages/submit/mistake';
import { indented } from '@/text/json-text';

/**
 * Returns the arguments for display. Arguments that are not JSON arrive as a JSON string and are shown as the model
 * wrote them.
 */
export function shownArguments(json: string): string {
  if (!json.startsWith('"')) return indented(json);
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}

export type Edited =
  | { state: 'wrong'; message: string }
  | { state: 'unchanged' }
  | { state: 'changed'; before: string; after: string };

export function readEdited(original: string, typed: string): Edited {
  const mistake = jsonMistake(typed);
  if (mistake) return { state: 'wrong', message: mistakeText(mistake) };
  if (!typed.trimStart().startsWith('{')) return { state: 'wrong', message: 'The arguments must be a JSON object.' };
  const before = shownArguments(original);
  const after = indented(typed);
  return before === after ? { state: 'unchanged' } : { state: 'changed', before, after };
}
