/** Notes, and the scripted model's replies about them. */
import { vi } from 'vitest';
import { limits } from './limits';
import type { Server } from './server';

export interface Extracted {
  type?: 'task' | 'decision' | 'question' | 'risk' | 'insight';
  title: string;
  content?: string;
  owner?: string;
  due_date?: string;
  tags?: string[];
  evidence: string;
  confidence?: number;
}

export interface Filed {
  project_id?: string;
  epic_id?: string;
  new_epic_name?: string;
  new_epic_description?: string;
  confidence?: number;
  duplicate_of?: string;
  reason?: string;
}

/** JSON is valid YAML. */
const text = (value: unknown) => JSON.stringify(value);

/** Returns a route that replies to the extraction of every note that contains these words. */
export function extracts(words: string, entities: readonly Extracted[], gate?: string): string {
  const answer = entities.map((entity) => ({
    type: 'task',
    content: '',
    owner: '',
    due_date: '',
    tags: [],
    confidence: 0.95,
    ...entity,
  }));
  return route('Extract entities from a note', words, text({ entities: answer }), gate);
}

/**
 * Returns a route that replies to the organization of every note whose entities contain these words, with one place per
 * entity, in order.
 */
export function organizes(words: string, places: readonly Filed[]): string {
  const answer = places.map((place, n) => ({
    entity: n + 1,
    project_id: '',
    epic_id: '',
    new_epic_name: '',
    new_epic_description: '',
    confidence: 0.95,
    duplicate_of: '',
    reason: '',
    ...place,
  }));
  return route('File entities', words, text({ entities: answer }));
}

/** Returns a route whose reply does not match the schema, so that the note fails immediately. */
export function refusesToExtract(words: string): string {
  return route('Extract entities from a note', words, 'I would rather talk about something else.');
}

function route(system: string, words: string, answer: string, gate?: string): string {
  const held = gate === undefined ? '' : `, gate: ${gate}`;
  return `  - when: {system: ${text(system)}, user: ${text(words)}}\n    replies: [{text: ${text(answer)}, times: forever${held}}]`;
}

/** Returns a script with these routes before those of another script. */
export function scriptOf(routes: readonly string[], rest = 'version: 1\nroutes:\n'): string {
  return rest.replace('routes:\n', () => `routes:\n${routes.join('\n')}\n`);
}

export interface NoteRow {
  id: string;
  status: string;
  processing_error: string;
  version: number;
  entities: { id: string; title: string; status: string; state: string; version: number }[];
  review_items: { id: string; kind: string; status: string; version: number; entity_id: string | null }[];
}

export async function capture(server: Server, content: string): Promise<string> {
  const { note } = await server.ask<{ note: { id: string } }>('POST', '/api/v1/notes', { content, source: 'cli' });
  return note.id;
}

/** Captures a note and waits until it has been processed. */
export async function processed(server: Server, content: string, status = 'done'): Promise<NoteRow> {
  const id = await capture(server, content);
  const read = () => server.ask<NoteRow>('GET', `/api/v1/notes/${id}`);
  return vi.waitFor(
    async () => {
      const note = await read();
      if (note.status !== status) throw new Error(`the note is ${note.status}: ${note.processing_error}`);
      return note;
    },
    { timeout: limits().step },
  );
}

export async function createProject(server: Server, name: string, description = ''): Promise<string> {
  const { id } = await server.ask<{ id: string }>('POST', '/api/v1/projects', { name, description });
  return id;
}

export async function createEpic(server: Server, project: string, name: string): Promise<string> {
  const { id } = await server.ask<{ id: string }>('POST', `/api/v1/projects/${project}/epics`, { name });
  return id;
}

export async function createTask(server: Server, title: string, more: Record<string, unknown> = {}): Promise<string> {
  const { id } = await server.ask<{ id: string }>('POST', '/api/v1/entities', { type: 'task', title, ...more });
  return id;
}
