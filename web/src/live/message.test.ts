import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { describe, expect, test } from 'vitest';
import { programOf } from '../../test/kit/fields';

/** As much of JSON Schema as docs/events.schema.json uses. */
interface Schema {
  $ref?: string;
  $defs?: Record<string, Schema>;
  type?: string;
  const?: unknown;
  enum?: string[];
  anyOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
}

function read(file: string): unknown {
  return JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../..', file), 'utf8'));
}

const defs = (read('../docs/events.schema.json') as Schema).$defs ?? {};

function resolved(schema: Schema): Schema {
  const name = schema.$ref?.replace('#/$defs/', '');
  return name === undefined ? schema : resolved(defs[name] ?? {});
}

/** A field of a message as the page declares it. */
interface Field {
  type: string;
  optional: boolean;
  /** The only values that it has, if the page says so. */
  values?: string[];
}

/** The messages that the page declares, by their type. */
function declared(): Map<string, Map<string, Field>> {
  const file = path.join(import.meta.dirname, 'message.ts');
  const program = programOf([file]);
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const exported = source && checker.getSymbolAtLocation(source)?.exports;
  const messages = new Map<string, Map<string, Field>>();
  for (const name of ['ChannelMessage', 'ConnectionMessage']) {
    const symbol = exported?.get(ts.escapeLeadingUnderscores(name));
    const union = symbol && checker.getDeclaredTypeOfSymbol(symbol);
    for (const type of union?.isUnion() ? union.types : []) {
      const fields = new Map(type.getProperties().map((property) => [property.name, fieldOf(checker, property)]));
      for (const value of fields.get('type')?.values ?? []) messages.set(value, fields);
    }
  }
  return messages;
}

function fieldOf(checker: ts.TypeChecker, property: ts.Symbol): Field {
  const type = checker.getNonNullableType(checker.getTypeOfSymbol(property));
  const parts = type.isUnion() ? type.types : [type];
  const values = parts.flatMap((part) => (part.isStringLiteral() ? [part.value] : []));
  return {
    type: [...new Set(parts.map(jsonType))].join(' | '),
    optional: (property.flags & ts.SymbolFlags.Optional) !== 0,
    values: values.length > 0 ? values : undefined,
  };
}

function jsonType(type: ts.Type): string {
  if (type.flags & ts.TypeFlags.StringLike) return 'string';
  if (type.flags & ts.TypeFlags.NumberLike) return 'number';
  if (type.flags & ts.TypeFlags.BooleanLike) return 'boolean';
  return 'object';
}

function schemaType(schema: Schema): string {
  if (schema.anyOf) return [...new Set(schema.anyOf.map((option) => schemaType(resolved(option))))].join(' | ');
  if (schema.const !== undefined) return typeof schema.const;
  return schema.type === 'integer' ? 'number' : (schema.type ?? 'anything');
}

/** What the page takes for granted and the schema does not promise. */
function mistakes(name: string, fields: ReadonlyMap<string, Field>): string[] {
  const schema = defs[name];
  if (schema === undefined) return [`${name} is no message`];
  const wrong: string[] = [];
  for (const [field, { type, optional, values }] of fields) {
    const promised = schema.properties?.[field];
    if (promised === undefined) {
      wrong.push(`${name} has no ${field}`);
      continue;
    }
    const given = resolved(promised);
    if (schemaType(given) !== type) wrong.push(`${name}.${field} is ${schemaType(given)}, not ${type}`);
    if (!optional && !schema.required?.includes(field)) wrong.push(`${name}.${field} may be left out`);
    const unknown = values && given.enum?.filter((value) => !values.includes(value));
    if (unknown?.length) wrong.push(`${name}.${field} can also be ${unknown.join(', ')}`);
    if (values && given.enum === undefined && given.const === undefined) wrong.push(`${name}.${field} can be any text`);
  }
  return wrong;
}

// The server's end-to-end tests hold every message that they see to that schema.
describe('what the page knows of messages', () => {
  const messages = declared();

  test('is what docs/events.schema.json promises', { timeout: 60_000 }, () => {
    expect([...messages].flatMap(([name, fields]) => mistakes(name, fields))).toEqual([]);
  });

  test('was found', () => {
    expect([...messages.keys()].sort()).toEqual([
      'catchup.overflow',
      'chat.created',
      'chat.user_message',
      'connection.established',
      'error',
      'execution.status',
      'pong',
      'session.changed',
      'session.status',
      'stage.status',
      'stream.chunk',
      'subscription.confirmed',
      'subscription.removed',
      'timeline_event.completed',
      'timeline_event.created',
    ]);
    expect(messages.get('stage.status')?.get('stage_index')).toEqual({ type: 'number', optional: false });
    expect(messages.get('session.changed')?.get('behind')).toEqual({ type: 'boolean', optional: true });
    expect(messages.get('timeline_event.created')?.get('metadata')).toEqual({ type: 'object', optional: true });
  });

  test('would be found wrong', () => {
    const text: Field = { type: 'string', optional: false };
    const fields = new Map<string, Field>([
      ['sessionId', text],
      ['stage_index', text],
      ['stage_type', { ...text, values: ['investigation', 'chat'] }],
      ['stage_name', { ...text, values: ['look'] }],
    ]);
    expect(mistakes('stage.status', fields)).toEqual([
      'stage.status has no sessionId',
      'stage.status.stage_index is number, not string',
      'stage.status.stage_type can also be synthesis',
      'stage.status.stage_name can be any text',
    ]);
    expect(mistakes('session.status', new Map([['error_code', text]]))).toEqual([
      'session.status.error_code may be left out',
    ]);
    expect(mistakes('stage.begun', fields)).toEqual(['stage.begun is no message']);
  });
});

test('every key of metadata that the page reads is one that a timeline event can have', () => {
  const prefix = 'TimelineItem.metadata.';
  const keys = (read('fields.json') as string[]).filter((field) => field.startsWith(prefix));
  const known = Object.entries(defs).flatMap(([name, schema]) =>
    name.startsWith('metadata.') ? Object.keys(schema.properties ?? {}) : [],
  );
  expect(keys).toContain(`${prefix}call`);
  expect(keys.filter((key) => !known.includes(key.slice(prefix.length)))).toEqual([]);
});
