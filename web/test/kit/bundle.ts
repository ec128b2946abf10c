/** The transfer size of the built dashboard's files. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = path.resolve(import.meta.dirname, '../../dist');

/** The budget in files and bytes until the first view of the list, and until the whole page has loaded. */
export const budgets = { first: { files: 5, bytes: 19_000 }, whole: { files: 11, bytes: 216_000 } };

interface Chunk {
  file: string;
  css?: string[];
  assets?: string[];
  imports?: string[];
}

/**
 * Returns the files of the first view and of the whole list with their sizes; undefined if the dashboard is not built.
 */
export function firstPage(): { first: Map<string, number>; whole: Map<string, number> } | undefined {
  const file = path.join(dist, 'manifest.json');
  if (!existsSync(file)) return undefined;
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Chunk>;
  const files = new Set(['index.html', 'favicon.svg']);
  const add = (name: string) => {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`the manifest has no ${name}`);
    if (files.has(chunk.file)) return;
    for (const part of [chunk.file, ...(chunk.css ?? [])]) files.add(part);
    for (const imported of chunk.imports ?? []) add(imported);
  };
  const sizes = () => new Map([...files].map((each) => [each, sizeOf(each)]));
  const html = readFileSync(path.join(dist, 'index.html'), 'utf8');
  for (const [, file = ''] of html.matchAll(/"\/(assets\/[^"]+)"/g)) files.add(file);
  const first = sizes();
  add('src/main.tsx');
  add('src/pages/sessions/page.tsx');
  // Once the app has started, browsers load only the font files for the letters on the page: here the Latin ones.
  const fonts = Object.values(manifest).flatMap((chunk) => chunk.assets ?? []);
  for (const font of fonts) if (font.includes('-latin-wght')) files.add(font);
  return { first, whole: sizes() };
}

/**
 * Returns the size as sent to browsers: compressed by the build or by the server, unless the format is already
 * compressed.
 */
function sizeOf(name: string): number {
  const file = path.join(dist, name);
  if (existsSync(`${file}.br`)) return readFileSync(`${file}.br`).length;
  const text = readFileSync(file);
  return name.endsWith('.woff2') ? text.length : gzipSync(text).length;
}

export function weight(files: ReadonlyMap<string, number>): number {
  return [...files.values()].reduce((sum, size) => sum + size, 0);
}
