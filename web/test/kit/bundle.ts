/** What the built page weighs: the files that its first page needs, as they go over the wire. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';

const dist = path.resolve(import.meta.dirname, '../../dist');

/** What the first page may weigh, in bytes. */
export const budget = 350_000;

interface Chunk {
  file: string;
  css?: string[];
  assets?: string[];
  imports?: string[];
}

/** The files of the first page with their size in bytes after gzip; undefined where the page is not built. */
export function firstPage(): Map<string, number> | undefined {
  const file = path.join(dist, 'manifest.json');
  if (!existsSync(file)) return undefined;
  const manifest = JSON.parse(readFileSync(file, 'utf8')) as Record<string, Chunk>;
  const files = new Set(['index.html', 'assets/theme-1.js', 'favicon.svg']);
  const add = (name: string) => {
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`the manifest has no ${name}`);
    if (files.has(chunk.file)) return;
    // Of the font, browsers load the letters that a page has: of ours, the Latin ones.
    const fonts = (chunk.assets ?? []).filter((asset) => asset.includes('-latin-wght'));
    for (const part of [chunk.file, ...(chunk.css ?? []), ...fonts]) files.add(part);
    for (const imported of chunk.imports ?? []) add(imported);
  };
  add('index.html');
  add('src/pages/sessions/page.tsx');
  return new Map([...files].map((name) => [name, gzipSync(readFileSync(path.join(dist, name))).length]));
}

export function weight(files: ReadonlyMap<string, number>): number {
  return [...files.values()].reduce((sum, size) => sum + size, 0);
}
