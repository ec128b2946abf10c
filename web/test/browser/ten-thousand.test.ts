/** A session of ten thousand events is as readable as one of ten. */
import { beforeAll, expect, test } from 'vitest';
import { bigBudget, bigScript } from '../kit/big';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { callRow, inSight, readRows, rowOf, timelineOf } from '../kit/timeline';

const count = 10_000;
const { server, visit } = scenario({ script: bigScript(count), system: bigBudget });
const session = { id: '', events: [] as { id: string; call: unknown }[] };

beforeAll(async () => {
  session.id = await server().submit();
  expect(await server().waitUntilEnded(session.id)).toBe('completed');
  session.events = (await timelineOf(server(), session.id)).map(({ id, metadata }) => ({ id, call: metadata?.call }));
});

const eventOf = (call: string) => {
  const event = session.events.find((candidate) => candidate.call === call);
  return event?.id ?? expect.fail(`no tool call ${call}`);
};

test('all events appear in order with at most 500 rows in the document', async () => {
  expect(session.events.filter(({ call }) => call !== undefined).map(({ call }) => call)).toEqual(
    Array.from({ length: count }, (_, n) => `1.1.${n + 1}`),
  );
  const { page } = await visit(`/sessions/${session.id}`);
  await page.getByTestId('outcome').waitFor();
  await callRow(page, '1.1.1').waitFor();
  expect(await readOnce(() => page.getByTestId('timeline-row').count())).toBeLessThanOrEqual(500);
  const { events, mostDrawn } = await readRows(page);
  expect(events).toEqual(session.events.map(({ id }) => id));
  expect(mostDrawn).toBeLessThanOrEqual(500);
  expect(mostDrawn).toBeGreaterThan(10);
});

test('a deep link opens event 5,000, and long texts load on demand', async () => {
  const tab = await visit('/');
  const { page } = tab;
  const payloads: string[] = [];
  page.on('request', (request) => {
    const [, event] = new URL(request.url()).pathname.match(/\/timeline\/(.+)$/) ?? [];
    if (event !== undefined) payloads.push(event);
  });

  await page.goto(`${server().url}/sessions/${session.id}?event=${eventOf('1.1.4999')}`);
  const row = rowOf(page, eventOf('1.1.4999'));
  await row.waitFor();
  await eventually(() => inSight(row)).toBe(true);
  await eventually(() => row.getAttribute('data-open')).toBe('true');
  await eventually(() => row.innerText()).toContain('line 4999 of a long log');
  expect(await readOnce(() => page.getByTestId('timeline-row').count())).toBeLessThanOrEqual(500);
  expect(payloads).toEqual([]);

  // The next one has a long result, which is loaded on request.
  const long = rowOf(page, eventOf('1.1.5000'));
  await eventually(() => long.getAttribute('data-open')).toBe('false');
  await long.getByRole('button').first().click();
  await eventually(() => long.innerText()).toContain('and its end.');
  expect(payloads).toEqual([eventOf('1.1.5000')]);

  // A link to the row loads it immediately.
  const other = await visit(`/sessions/${session.id}?event=${eventOf('1.1.5000')}`);
  const same = rowOf(other.page, eventOf('1.1.5000'));
  await eventually(() => same.innerText()).toContain('and its end.');
  await eventually(() => inSight(same)).toBe(true);
});

test('a trace of 10,000 calls renders visible rows only and filters all', async () => {
  const { page } = await visit(`/sessions/${session.id}/trace`);
  const rows = page.getByRole('treeitem');
  await rows.first().waitFor();
  expect(await readOnce(() => rows.count())).toBeLessThanOrEqual(100);
  await eventually(() => page.getByTestId('kind-tool').innerText()).toMatch(new RegExp(`Tools\\s*${count}`));
  await page.getByTestId('trace-search').fill('line=9999');
  await eventually(() => page.locator('[data-call]').count()).toBe(1);
  await eventually(() => page.locator('[data-call]').innerText()).toContain('1.1.9999');

  // The agent's last call received everything: its beginning and end are rendered, the rest on request.
  await page.getByTestId('trace-search').fill('');
  await page.getByTestId('kind-llm').click();
  await page.locator('[data-call]', { hasText: 'iteration' }).last().click();
  const conversation = page.getByTestId('conversation');
  const messages = conversation.locator('> section');
  const between = conversation.getByTestId('messages-between');
  await between.waitFor();
  await eventually(() => messages.count()).toBe(50);
  const all = Number((await conversation.getByRole('heading').innerText()).match(/\d+/)?.[0]);
  expect(all).toBeGreaterThan(count);
  await eventually(() => between.innerText()).toContain(`${all - 50} messages between`);
  await between.getByRole('button', { name: 'Show 200 more' }).click();
  await eventually(() => messages.count()).toBe(250);
  await eventually(() => messages.last().innerText()).toContain(`${all}. Tool`);
});
