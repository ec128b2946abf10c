import { argumentsPreview } from '../session/timeline/preview';

const longestName = 80;

/** Returns the first argument of a tool call as `name=value` in one line; other values are shown as they are. */
export function firstArgument(given: unknown): string {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return argumentsPreview(given);
  for (const name in given) {
    const value = (given as Record<string, unknown>)[name];
    const plain = typeof value !== 'object' || value === null || Array.isArray(value);
    const shown = value === null ? 'null' : argumentsPreview(value);
    return `${name.slice(0, longestName)}=${plain ? shown : `{${shown}}`}`;
  }
  return '';
}
