/** Parses YAML as data. The parser is large, and slow on large texts: only yaml-worker.ts and the tests import it. */
import { type Document, isAlias, isScalar, parseDocument, visit } from 'yaml';
import { type Mistake, mistakeAt } from './mistake';
import { type Checked, invalidPayloadKind } from './payload';

/** How often aliases may be expanded in total; a few lines of nested aliases can expand to gigabytes. */
const maxAliases = 100;

export function checkYAML(text: string): Checked {
  try {
    return read(text);
  } catch (error) {
    return { ok: false, mistake: thrown(error) };
  }
}

function read(text: string): Checked {
  const document = parseDocument(text, {
    prettyErrors: false,
    merge: true,
    // Binary values, sets and timestamps keep their text: JSON has none of them.
    resolveKnownTags: false,
    logLevel: 'error',
  });
  const mistake = firstError(document, text) ?? tidy(document, text);
  if (mistake !== null) return { ok: false, mistake };

  const value: unknown = document.toJS({ maxAliasCount: maxAliases });
  if (value === null || value === undefined) return { ok: false, mistake: { message: 'The YAML is empty.' } };
  if (typeof value !== 'object' && typeof value !== 'string')
    return { ok: false, mistake: invalidPayloadKind(`a ${typeof value}`) };
  return { ok: true, data: JSON.stringify(value) };
}

function firstError(document: Document.Parsed, text: string): Mistake | null {
  const error = document.errors[0];
  if (error === undefined) return null;
  const messages: Partial<Record<typeof error.code, string>> = {
    MULTIPLE_DOCS: 'a second document starts here; an alert is one document',
    RESOURCE_EXHAUSTION: 'nested too deeply',
  };
  return mistakeAt(text, error.pos[0], messages[error.code] ?? lowerFirst(error.message));
}

/**
 * Finds aliases without an anchor, and keeps as text the numbers that JSON cannot represent: too many digits, infinity,
 * NaN.
 */
function tidy(document: Document.Parsed, text: string): Mistake | null {
  const anchors = new Set<string>();
  let mistake: Mistake | null = null;
  visit(document, (_, node) => {
    if (isAlias(node)) {
      if (anchors.has(node.source)) return undefined;
      mistake = mistakeAt(text, node.range?.[0] ?? 0, `alias *${node.source} has no anchor &${node.source} before it`);
      return visit.BREAK;
    }
    if (typeof node === 'object' && node !== null && 'anchor' in node && typeof node.anchor === 'string')
      anchors.add(node.anchor);
    if (isScalar(node) && typeof node.value === 'number' && node.source !== undefined && !exact(node.value)) {
      node.value = node.source;
    }
    return undefined;
  });
  return mistake;
}

function exact(value: number): boolean {
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value));
}

function thrown(error: unknown): Mistake {
  if (error instanceof RangeError) return { message: 'The YAML is nested too deeply.' };
  if (error instanceof ReferenceError) {
    return {
      message: 'The aliases (*name) in this YAML expand to too much data. Write the values out.',
    };
  }
  if (error instanceof TypeError) return { message: 'An alias (*name) in this YAML contains itself.' };
  return { message: error instanceof Error ? error.message : String(error) };
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
