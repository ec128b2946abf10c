/** Re-running a session from its page, unchanged or with another chain, model or tool selection. */
import { expect, test } from 'vitest';
import type { SessionDetail } from '@/api/types';
import { eventually, readOnce, stored } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { status } from '../kit/timeline';

const { server, visit } = scenario({
  providers: ['second'],
  mcp: ['cluster', 'logs'],
  config: `
agents:
  Investigator: {mcp_servers: [cluster, logs]}
  Second: {mcp_servers: [logs]}
agent_chains:
  plain:
    alert_types: [pod-crash]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
  deep:
    alert_types: [outage]
    stages: [{name: look closer, agents: [{name: Second}]}]
`,
  script: `
version: 1
routes:
  - when: {agent: Investigator}
    replies: [{text: The pod ran out of memory., times: forever}]
  - when: {agent: Second}
    replies: [{text: The node ran out of memory., times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
mcp_servers:
  cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}
  logs:
    tools:
      - {name: get_log, read_only: true, results: [{text: none}]}
      - {name: search_logs, read_only: true, results: [{text: none}]}
`,
});

const detail = (id: string) => server().ask<SessionDetail>('GET', `/api/v1/sessions/${id}`);
const idOf = (url: string) => new URL(url).pathname.split('/').at(-1) ?? '';

test('a re-run with another chain, model and tools links to its original', async () => {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  await status(page, 'completed').waitFor();
  expect(await readOnce(() => page.getByTestId('compare-original').count())).toBe(0);
  await page.getByTestId('rerun').click();
  const form = page.getByTestId('rerun-form');
  // The form starts with the session's settings.
  await eventually(() => page.getByTestId('rerun-chain').inputValue()).toBe('plain');
  await eventually(() => page.getByTestId('rerun-model').inputValue()).toBe('');
  await form.getByText('2 MCP servers: cluster, logs').waitFor();
  await tab.expectAccessible();

  await page.getByTestId('rerun-chain').selectOption('deep');
  await form.getByText('1 MCP server: logs').waitFor();
  await page.getByTestId('rerun-model').selectOption('second');
  await form.getByRole('radio', { name: 'Selected' }).check();
  await form.getByRole('checkbox', { name: /^logs/ }).check();
  await form.getByText('Tools', { exact: true }).last().click();
  await form.getByRole('checkbox', { name: /^search_logs/ }).uncheck();
  await page.getByTestId('confirm').click();

  await page.waitForURL((url) => url.pathname.startsWith('/sessions/') && idOf(url.href) !== id);
  const again = idOf(page.url());
  expect(await server().waitUntilEnded(again)).toBe('completed');
  expect(await stored(detail(again))).toMatchObject({
    rerun_of: id,
    chain_id: 'deep',
    llm_provider: 'second',
    mcp_selection: { servers: [{ name: 'logs', tools: ['get_log'] }] },
    final_analysis: 'The node ran out of memory.',
  });

  // The next form starts with these settings, and a plain re-run keeps all of them.
  await status(page, 'completed').waitFor();
  const compare = page.getByTestId('compare-original');
  await eventually(() => compare.getAttribute('href')).toBe(`/sessions/${again}/trace?compare=${id}`);
  await page.goto(`${server().url}/sessions/${id}`);
  const rerun = page.getByTestId('reruns').getByRole('link');
  await rerun.first().waitFor();
  await eventually(() => rerun.evaluateAll((links) => links.map((link) => link.getAttribute('href')))).toEqual([
    `/sessions/${again}`,
    `/sessions/${again}/trace?compare=${id}`,
  ]);
  await rerun.first().click();
  await status(page, 'completed').waitFor();
  await compare.waitFor();
  await page.getByTestId('rerun').click();
  await eventually(() => page.getByTestId('rerun-chain').inputValue()).toBe('deep');
  await eventually(() => page.getByTestId('rerun-model').inputValue()).toBe('second');
  await eventually(() => form.getByRole('radio', { name: 'Selected' }).isChecked()).toBe(true);
  await page.getByTestId('confirm').click();
  await page.waitForURL((url) => idOf(url.href) !== again);
  const third = idOf(page.url());
  expect(await server().waitUntilEnded(third)).toBe('completed');
  expect(await stored(detail(third))).toMatchObject({
    rerun_of: again,
    chain_id: 'deep',
    llm_provider: 'second',
    mcp_selection: { servers: [{ name: 'logs', tools: ['get_log'] }] },
  });
});

test('a re-run error stays in view, and the form is unchanged', async () => {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const tab = await visit(`/sessions/${id}`, { viewport: { width: 360, height: 640 } });
  const { page } = tab;
  tab.tolerated = [/\b400\b/];
  await status(page, 'completed').waitFor();
  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type('again');
  await page.keyboard.press('Enter');
  const form = page.getByTestId('rerun-form');
  await form.getByRole('radio', { name: 'Selected' }).check();
  // The server rejects an empty selection.
  await page.getByTestId('confirm').click();
  const problem = form.getByRole('alert');
  await problem.waitFor();
  await eventually(() =>
    problem.evaluate((node) => {
      const { top, bottom } = node.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    }),
  ).toBe(true);
  await eventually(() => form.getByRole('radio', { name: 'Selected' }).isChecked()).toBe(true);
  await form.getByRole('radio', { name: 'All chain tools' }).check();
  await page.getByTestId('confirm').click();
  await page.waitForURL((url) => idOf(url.href) !== id);
  expect((await stored(detail(idOf(page.url())))).mcp_selection).toBe(null);
});
