/** What the built page weighs: its files as they go over the wire. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = path.resolve(import.meta.dirname, '../../dist');

/** What may be loaded, in files and bytes, until the list is first shown, and until the whole page is there. */
export const budgets = { first: { files: 5, bytes: 19_000 }, whole: { files: 11, bytes: 225_000 } };

interface Chunk {
  file: string;
  css?: string[];
  assets?: string[];
  imports?: string[];
}

/** The files of what is shown first and of the whole list with their sizes; undefined where the page is not built. */
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
  // Of the font, browsers load the letters that a page has, when it has started: of ours, the Latin ones.
  const fonts = Object.values(manifest).flatMap((chunk) => chunk.assets ?? []);
  for (const font of fonts) if (font.includes('-latin-wght')) files.add(font);
  return { first, whole: sizes() };
}

/** As browsers get it: compressed by the build, else by the server, unless it is so by itself. */
function sizeOf(name: string): number {
  const file = path.join(dist, name);
  if (existsSync(`${file}.br`)) return readFileSync(`${file}.br`).length;
  const text = readFileSync(file);
  return name.endsWith('.woff2') ? text.length : gzipSync(text).length;
}

export function weight(files: ReadonlyMap<string, number>): number {
  return [...files.values()].reduce((sum, size) => sum + size, 0);
}
