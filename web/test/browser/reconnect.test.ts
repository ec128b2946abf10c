/**
 * The server or the network goes away: the page shows it, reconnects on its own, and shows each event once and in
 * order.
 */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { expectWholeTimeline, status } from '../kit/timeline';

const calls = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `{name: cluster__get_log, arguments: {line: ${from + n}}}`).join(', ');

/** One investigation per alert type: it stops in the middle of a text, then makes `count` calls, and concludes. */
const investigation = (agent: string, gate: string, count: number) => `
  - when: {agent: ${agent}, turn: 0}
    replies: [{tool_calls: [${calls(1, 10)}], times: forever}]
  - when: {agent: ${agent}, turn: 1}
    replies:
      - text: "${agent} looks further into it, and then reads the rest."
        tool_calls: [${calls(11, count)}]
        gate: {name: ${gate}, after_chunks: 3}
        times: forever
  - when: {agent: ${agent}, turn: 2}
    replies: [{text: "All was read [call 1.1.1]."}]`;

const script = `
version: 1
routes:${investigation('Crashed', 'crashed', 20)}${investigation('Overflown', 'overflown', 150)}${investigation('Offline', 'offline', 20)}
  - when: {user: Summarize this analysis}
    replies: [{text: Read it all., times: forever}]
mcp_servers: {cluster: {tools: [{name: get_log, read_only: true, results: [{text: "line {{.line}}"}]}]}}
`;

const agents = ['Crashed', 'Overflown', 'Offline'];
const chain = (name: string) =>
  `  ${name}: {alert_types: [${name}], stages: [{name: investigation, agents: [{name: ${name}}]}]}`;
const config = [
  'agents:',
  ...agents.map((name) => `  ${name}: {mcp_servers: [cluster]}`),
  'agent_chains:',
  ...agents.map(chain),
  '  other: {alert_types: [pod-crash], stages: [{name: investigation, agents: [{name: Crashed}]}]}',
].join('\n');

const { server, visit } = scenario({ script, config });
/** The browser's own messages about a server that does not respond. */
const unreachable = [
  /WebSocket connection to .* failed/,
  /net::ERR_(CONNECTION|INTERNET|EMPTY|SOCKET)/,
  /status of 503/,
];

const freshness = (page: Page, state: string) => page.locator(`[data-testid=freshness][data-state=${state}]`);

/** Returns the types of the messages received over the sockets of a page. */
function received(page: Page): string[] {
  const types: string[] = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      types.push((JSON.parse(String(payload)) as { type: string }).type);
    }),
  );
  return types;
}

test('the page catches up after a killed server restarts', async () => {
  const { mock } = server();
  const id = await server().submit('It crashes.', 'Crashed');
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  tab.tolerated = unreachable;
  await mock.reached('crashed');
  await page.getByText('Crashed looks').last().waitFor();
  await freshness(page, 'live').waitFor({ state: 'attached' });

  await server().crash();
  await freshness(page, 'connecting').waitFor();
  await eventually(() => page.getByTestId('freshness').innerText()).toContain('Connection lost');
  await eventually(() => page.getByTestId('connection').getAttribute('data-state')).toBe('lost');
  // The known state stays readable.
  await eventually(() => page.getByText('Crashed looks').count()).toBeGreaterThan(0);
  await tab.expectAccessible();

  await mock.open('crashed');
  await server().restart();
  await freshness(page, 'live').waitFor({ state: 'attached' });
  await status(page, 'completed').waitFor();
  await eventually(() => page.getByTestId('freshness').innerText()).toBe('');
  await expectWholeTimeline(page, server(), id);
});

test('the page reloads after missing more than can be replayed', async () => {
  const { mock } = server();
  const id = await server().submit('It overflows.', 'Overflown');
  const tab = await visit('/');
  const { page } = tab;
  tab.tolerated = unreachable;
  const types = received(page);
  await page.goto(`${server().url}/sessions/${id}`);
  await mock.reached('overflown');
  await page.getByText('Overflown looks').last().waitFor();

  await server().crash();
  await freshness(page, 'connecting').waitFor();
  await tab.context.setOffline(true);
  await mock.open('overflown');
  await server().restart();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  expect(await readOnce(() => freshness(page, 'connecting').count())).toBe(1);
  expect(types).not.toContain('catchup.overflow');

  await tab.context.setOffline(false);
  await status(page, 'completed').waitFor();
  await freshness(page, 'live').waitFor({ state: 'attached' });
  expect(types).toContain('catchup.overflow');
  await expectWholeTimeline(page, server(), id);
});

test('a network outage is shown, and no event is lost', async () => {
  const { mock } = server();
  const id = await server().submit('It is offline.', 'Offline');
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  tab.tolerated = unreachable;
  await mock.reached('offline');
  await page.getByText('Offline looks').last().waitFor();

  await tab.context.setOffline(true);
  await mock.open('offline');
  expect(await server().waitUntilEnded(id)).toBe('completed');
  await eventually(() => freshness(page, 'connecting').count()).toBe(1);
  expect(await readOnce(() => status(page, 'completed').count())).toBe(0);

  await tab.context.setOffline(false);
  await status(page, 'completed').waitFor();
  await freshness(page, 'live').waitFor({ state: 'attached' });
  await expectWholeTimeline(page, server(), id);
});
