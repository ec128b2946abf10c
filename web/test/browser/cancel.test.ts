/** The actions in the header of a session: cancel, re-run, export. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';
import { callRow, expectWholeTimeline, noteStatuses, status, timelineOf } from '../kit/timeline';

const script = `
version: 1
routes:
  - when: {agent: Investigator, user: "\`endless\`", turn: 0}
    replies: [{text: "This goes on and on", tool_calls: [{name: cluster__get_events}], times: forever}]
  - when: {agent: Investigator, turn: 0}
    replies: [{tool_calls: [{name: cluster__get_pods, arguments: {namespace: shop}}], times: forever}]
  - when: {agent: Investigator, turn: 1}
    replies: [{text: "The pod **ran out** of memory [call 1.1.1].", times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
mcp_servers:
  cluster:
    tools:
      - {name: get_pods, read_only: true, results: [{text: "web-1 in {{.namespace}}"}]}
      - {name: get_events, read_only: true, results: [{text: none}]}
`;

const { server, visit } = scenario({ script, config: plainChain, held: ['get_events'] });

test('a running session is cancelled after a confirmation', async () => {
  const { turnstile } = server();
  const id = await server().submit('It is `endless`.');
  const tab = await visit('/');
  const { page } = tab;
  const reported: string[] = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const message = JSON.parse(String(payload)) as { type: string; status?: string };
      if (message.type === 'session.status') reported.push(message.status ?? '');
    }),
  );
  await page.goto(`${server().url}/sessions/${id}`);
  await turnstile.reached('get_events');
  await callRow(page, '1.1.1').waitFor();
  const statuses = await noteStatuses(page);
  reported.length = 0;

  // Backing out changes nothing.
  await page.getByTestId('cancel').click();
  await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
  await eventually(() => page.getByRole('dialog').count()).toBe(0);
  expect((await server().ask<{ status: string }>('GET', `/api/v1/sessions/${id}`)).status).toBe('in_progress');

  await page.getByTestId('cancel').click();
  await page.getByRole('dialog').waitFor();
  await tab.expectAccessible();
  await page.getByTestId('confirm').click();

  await status(page, 'cancelled').waitFor();
  // Cancelling may last less than a frame, but the messages are always sent, in a fixed order.
  expect(reported).toEqual(['cancelling', 'cancelled']);
  await eventually(async () => (await statuses()).filter((each) => each !== 'cancelling')).toEqual([
    'in_progress',
    'cancelled',
  ]);
  await eventually(() => page.getByRole('dialog').count()).toBe(0);
  await eventually(() => page.getByTestId('outcome').getAttribute('data-status')).toBe('cancelled');
  await eventually(() => page.getByTestId('cancel').count()).toBe(0);
  // The text written so far is kept; a cancelled session takes no questions, and the chat says so.
  await eventually(() => page.getByText('This goes on and on').count()).toBeGreaterThan(0);
  await page.getByTestId('chat-open').click();
  await eventually(() => page.getByTestId('chat-hint').innerText()).toContain('Re-run it to ask');
  await expectWholeTimeline(page, server(), id);
});

test('the confirmation closes when the session ends before the response', async () => {
  const id = await server().submit('It is `endless`.');
  const { page } = await visit(`/sessions/${id}`);
  await callRow(page, '1.1.1').waitFor();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/cancel', async (route) => {
    const response = await route.fetch();
    await held;
    await route.fulfill({ response });
  });
  await page.getByTestId('cancel').click();
  await page.getByTestId('confirm').click();
  await status(page, 'cancelled').waitFor();
  await eventually(() => page.getByRole('dialog').count()).toBe(0);

  const answered = page.waitForResponse('**/cancel');
  release();
  await answered;
  await eventually(() => page.getByRole('dialog').count()).toBe(0);
  await eventually(() => page.getByTestId('cancel').count()).toBe(0);
});

test('a re-run starts a new session that links to the original', async () => {
  const id = await server().submit();
  await server().waitUntilEnded(id);
  const { page } = await visit(`/sessions/${id}`);
  await page.getByTestId('outcome').waitFor();
  await page.getByTestId('rerun').click();
  await page.getByTestId('confirm').click();
  await page.waitForURL((url) => /^\/sessions\/[0-9a-f-]{36}$/.test(url.pathname) && !url.pathname.includes(id));
  const again = new URL(page.url()).pathname.split('/')[2] ?? '';
  await status(page, 'completed').waitFor();
  expect(await server().ask('GET', `/api/v1/sessions/${again}`)).toMatchObject({ rerun_of: id, status: 'completed' });
  await page
    .getByTestId('session-header')
    .getByRole('link', { name: id.slice(-12) })
    .click();
  await page.waitForURL((url) => url.pathname.includes(id));
});

test('a session exports as JSON and Markdown, and its link can be copied', async () => {
  const id = await server().submit();
  await server().waitUntilEnded(id);
  const { page } = await visit(`/sessions/${id}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  const download = async (name: RegExp) => {
    await page.getByTestId('export').click();
    const [file] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name }).click()]);
    return { name: file.suggestedFilename(), text: readFileSync(await file.path(), 'utf8') };
  };

  const data = await download(/JSON/);
  expect(data.name).toBe(`tarsy-pod-crash-${id.slice(0, 8)}.json`);
  const { session, timeline, trace } = JSON.parse(data.text) as Record<string, unknown>;
  expect(session).toMatchObject({ id, status: 'completed', executive_summary: 'Out of memory.' });
  expect(timeline).toEqual((await timelineOf(server(), id)).map(({ content_length, truncated, ...event }) => event));
  expect(JSON.stringify(trace)).toContain('get_pods');

  const report = await download(/Markdown/);
  expect(report.name).toBe(`tarsy-pod-crash-${id.slice(0, 8)}.md`);
  for (const part of [
    'pod-crash',
    'Out of memory.',
    'The pod **ran out** of memory',
    '1.1.1',
    'web-1 in shop',
    'The pod web-1 crashes.',
  ])
    expect(report.text).toContain(part);

  await page.getByTestId('session-header').getByRole('button', { name: 'Copy link' }).click();
  await page.getByTestId('session-header').getByRole('button', { name: 'Copied' }).waitFor();
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toBe(`${server().url}/sessions/${id}`);
});
