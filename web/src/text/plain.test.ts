import { expect, test } from 'vitest';
import { plainText } from './plain';

test.each([
  ['code and emphasis', 'The limit of `web-1` is **too low**.', 'The limit of web-1 is too low.'],
  ['marks of calls', 'The disk is full [call 1.2.3].', 'The disk is full.'],
  ['names', 'REINDEX_WORKERS went _up_', 'REINDEX_WORKERS went up'],
  ['several lines', '## Cause\n\n- `a` failed\n- **b** waited', 'Cause a failed b waited'],
  ['no words', '***\n\n``', ''],
])('plain text has no Markdown syntax: %s', (_, text, plain) => {
  expect(plainText(text)).toBe(plain);
});
