import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { fieldsRead } from '../../test/kit/fields';

const list = path.resolve(import.meta.dirname, '../../fields.json');
/** The type checker reads the whole dashboard, which is slow on a busy machine. */
const patience = 600_000;

// The server's contract tests read the list: they fail on a field that the dashboard starts to read until they cover
// it. `UPDATE_FIELDS=1 npm run fields` rewrites it.
test('fields.json lists every field that the dashboard reads', { timeout: patience }, () => {
  const fields = fieldsRead();
  if (process.env.UPDATE_FIELDS) writeFileSync(list, `${JSON.stringify(fields, null, 2)}\n`);
  expect(fields).toEqual(JSON.parse(readFileSync(list, 'utf8')));
});

test('a field is found however it is read', { timeout: patience }, () => {
  expect(fieldsRead([path.resolve(import.meta.dirname, '../../test/kit/reads.ts')])).toEqual([
    'APIKey.prefix',
    'APIKey.revoked_at',
    'Chat.created_by',
    'Health.warnings',
    'Me.name',
    'SessionDetail.author',
    'SessionDetail.chain_id',
    'SessionDetail.chat',
    'SessionDetail.runbook',
    'SessionDetail.runbook_url',
    'SessionItem.tool_calls',
    'SessionItem.version',
    'StageDetail.completed_at',
    'StageDetail.parallel_type',
    'StageDetail.stage_name',
    'TimelineItem.metadata',
    'TimelineItem.metadata.call',
    'TimelineItem.metadata.from',
    'Usage.cost_usd',
    'Warning.message',
  ]);
});
