import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { lookOf } from './look';

test('every documented event type has its own look', () => {
  const docs = readFileSync(new URL('../../../../../docs/events.md', import.meta.url), 'utf8');
  const part = docs.slice(docs.indexOf('## Types of timeline events'));
  const types = Array.from(part.matchAll(/^### `([a-z_]+)`$/gm), (match) => match[1] ?? '');
  expect(types.length).toBeGreaterThan(10);
  expect(types.filter((type) => lookOf(type).body === 'unknown')).toEqual([]);
});

test('an unknown event type is shown with its name', () => {
  expect(lookOf('approval_asked')).toMatchObject({ label: 'Approval asked', body: 'unknown' });
  expect(lookOf('constructor')).toMatchObject({ label: 'Constructor', body: 'unknown' });
  expect(lookOf('')).toMatchObject({ label: 'Event' });
});
