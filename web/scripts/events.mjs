// Writes src/live/schema.d.ts, the types of live messages, from docs/events.schema.json. With --check it writes nothing
// and fails if the file is out of date.
import { readFileSync, writeFileSync } from 'node:fs';
import openapiTS, { astToString, NEVER } from 'openapi-typescript';

const source = new URL('../../docs/events.schema.json', import.meta.url);
const target = new URL('../src/live/schema.d.ts', import.meta.url);

/** Marks a property that is never present. */
const absent = 'x-absent';

/**
 * Expands the rules "if this field has this value, that field has that schema" into one variant per value: TypeScript
 * has unions but no conditions.
 */
function variants({ allOf: rules, oneOf: _, ...schema }) {
  if (rules === undefined) return schema;
  return {
    oneOf: rules.map((rule) => {
      const properties = { ...schema.properties };
      for (const [name, value] of Object.entries(rule.if.properties)) {
        properties[name] = { ...value, description: properties[name].description };
      }
      for (const [name, value] of Object.entries(rule.then.properties)) {
        properties[name] =
          value === false ? { [absent]: true } : { ...value, description: properties[name].description };
      }
      return { ...schema, properties };
    }),
  };
}

/**
 * Wraps the schemas in an OpenAPI document, the input that openapi-typescript reads; OpenAPI schemas are JSON Schema.
 */
function document() {
  const { $defs } = JSON.parse(readFileSync(source, 'utf8').replaceAll('#/$defs/', '#/components/schemas/'));
  const schemas = Object.fromEntries(Object.entries($defs).map(([name, schema]) => [name, variants(schema)]));
  return {
    openapi: '3.1.0',
    info: { title: 'TARSy events', version: '1' },
    paths: {},
    components: { schemas },
  };
}

const transform = (schema) => (schema[absent] ? NEVER : undefined);
const types = `// Made from docs/events.schema.json by npm run types.\n${astToString(await openapiTS(document(), { transform }))}`;

if (!process.argv.includes('--check')) {
  writeFileSync(target, types);
} else if (readFileSync(target, 'utf8') !== types) {
  throw new Error('src/live/schema.d.ts is not that of docs/events.schema.json: run npm run types');
}
