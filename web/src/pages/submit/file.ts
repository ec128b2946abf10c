/** Reads a dropped or selected file as the payload of an alert. */
import { bytes } from '@/text/format';
import { maxBytes, type PayloadFormat, recogniseFile } from './payload';

export const accepted = '.json,.yaml,.yml,.txt,application/json,application/yaml,text/plain';

type FileContent = { ok: true; name: string; text: string; format: PayloadFormat } | { ok: false; message: string };

const refuse = (message: string): FileContent => ({ ok: false, message });

/** Shortens a file name for a message: it can be of any length. */
function shown(name: string): string {
  return name.length > 80 ? `${name.slice(0, 80)}…` : name;
}

export async function readFiles(files: readonly File[]): Promise<FileContent> {
  const [file, another] = files;
  if (file === undefined) return refuse('No file was dropped.');
  if (another !== undefined) return refuse('Drop one file at a time: each file is one alert.');
  if (file.size > maxBytes) {
    return refuse(`${shown(file.name)} is ${bytes(file.size)}; the limit is ${bytes(maxBytes)}.`);
  }
  try {
    return contentOf(file.name, new Uint8Array(await file.arrayBuffer()));
  } catch {
    // Folders are dropped as files too but cannot be read.
    return refuse(`Could not read ${shown(file.name)}. Folders are not supported.`);
  }
}

export function contentOf(name: string, content: Uint8Array): FileContent {
  const text = decode(content);
  if (text === null) return refuse(`${shown(name)} is not a text file. Use text, JSON or YAML.`);
  if (text.trim() === '') return refuse(`${shown(name)} is empty.`);
  return { ok: true, name: shown(name), text, format: recogniseFile(name, text) };
}

/** Decodes a file: UTF-8, or UTF-16 with a byte order mark. Returns null if it is not text. */
function decode(content: Uint8Array): string | null {
  const [first, second] = content;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  try {
    const text = new TextDecoder(encoding, { fatal: true }).decode(content).replaceAll('\r\n', '\n');
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}
