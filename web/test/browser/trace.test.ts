import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { scenario } from '../kit/scenario';

/** Hostile to a shell and to a page. */
const tricky = `it's "quoted" $(touch /tmp/never) \`id\` <b>bold</b>`;

const { server, visit } = scenario({
  script: `
version: 1
routes:
  - when: {agent: Careful, turn: 0}
    replies:
      - thinking: I look at the pods first.
        tool_calls:
          - {name: cluster__get_pods, arguments: {namespace: shop, note: ${JSON.stringify(tricky)}}}
          - {name: cluster__get_log, arguments: {pod: web-1}}
        times: forever
  - when: {agent: Careful}
    replies: [{text: "Careful says: the cache has no bound [call 1.1.1].", times: forever}]
  - when: {agent: Quick, turn: 0}
    replies:
      - tool_calls: [{name: cluster__get_pods, arguments: {namespace: prod}}]
        times: forever
  - when: {agent: Quick}
    replies: [{text: "Quick says: out of memory.", times: forever}]
  - when: {agent: Judge}
    replies: [{text: "Both agree: out of memory.", times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
mcp_servers:
  cluster:
    tools:
      - {name: get_pods, read_only: true, results: [{text: "web-1 in {{.namespace}} was OOMKilled"}]}
      - {name: get_log, read_only: true, results: [{error: The log is gone.}]}
`,
  config: `
agents:
  Careful: {mcp_servers: [cluster]}
  Quick: {mcp_servers: [cluster]}
  Judge: {type: synthesis}
agent_chains:
  both:
    description: Two agents look at once.
    alert_types: [pod-crash]
    stages:
      - {name: investigation, agents: [{name: Careful}, {name: Quick}], synthesis: {agent: Judge}}
`,
});

let session = '';
const address = () => `/sessions/${session}/trace`;

beforeAll(async () => {
  session = await server().submit();
  expect(await server().ended(session)).toBe('completed');
});

/** The name of the row that the keys are at. */
async function activeRow(page: Page): Promise<string> {
  const id = await page.getByRole('tree').getAttribute('aria-activedescendant');
  return (await page.locator(`[id="${id}"]`).innerText()).replaceAll('\n', ' ');
}

/** Opens a call by its name. */
async function choose(page: Page, name: RegExp): Promise<string> {
  await page.getByRole('treeitem', { name }).first().click();
  await page.waitForURL(/[?&]call=/);
  await page.getByTestId('copy-call').waitFor();
  return new URL(page.url()).searchParams.get('call') ?? '';
}

async function copied(page: Page, button: string): Promise<string> {
  await page.evaluate(() => navigator.clipboard.writeText(''));
  await page.getByTestId('copy-call').getByRole('button', { name: button, exact: true }).click();
  await page.getByTestId('copy-call').getByRole('button', { name: 'Copied' }).first().waitFor();
  const read = () => page.evaluate(() => navigator.clipboard.readText());
  await expect.poll(read).not.toBe('');
  return read();
}

test('tree and waterfall show every call and work by keyboard', async () => {
  const tab = await visit(address());
  const { page } = tab;
  const tree = page.getByRole('tree');
  await tree.waitFor();
  await tab.expectAccessible();
  // A stage and two agents, their calls, the synthesis, and the summary of the session.
  const rows = page.getByRole('treeitem');
  const before = await rows.count();
  expect(await page.locator('[data-call]').count()).toBe(9);
  expect(await page.getByTestId('trace').innerText()).toContain('6 LLM calls, 3 tool calls');

  await tree.focus();
  await page.keyboard.press('Home');
  expect(await activeRow(page)).toContain('investigation');
  await page.keyboard.press('ArrowRight');
  expect(await activeRow(page)).toContain('Careful');
  await page.keyboard.press('ArrowLeft');
  expect(await activeRow(page)).toContain('Careful');
  await expect.poll(() => rows.count()).toBeLessThan(before);
  await page.keyboard.press('ArrowRight');
  await expect.poll(() => rows.count()).toBe(before);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]call=/);
  await page.getByTestId('conversation').waitFor();
  await tab.expectAccessible();
  // The chosen call is in the address, so it can be sent to somebody.
  await page.reload();
  await page.getByTestId('conversation').waitFor();
});

test('an LLM call shows its conversation and response', async () => {
  const { page } = await visit(address());
  await page.getByRole('treeitem', { name: /Careful/ }).waitFor();
  await page.locator('[data-call]').first().click();
  await page.getByTestId('conversation').waitFor();
  const text = await page.getByTestId('call-details').innerText();
  expect(text).toContain('scripted-model');
  expect(text).toContain('I look at the pods first.');
  const conversation = page.getByTestId('conversation');
  expect(await conversation.innerText()).toMatch(/1\. System[\s\S]*2\. User/);
  await page.getByTestId('response').getByText('cluster__get_pods').waitFor();
});

test('a tool call shows arguments and result, hostile or not', async () => {
  const tab = await visit(address());
  const { page } = tab;
  const id = await choose(page, /get_pods/);
  const details = page.getByTestId('call-details');
  await details.getByText('web-1 in shop was OOMKilled').waitFor();
  expect(await details.innerText()).toContain(JSON.stringify(tricky));
  expect(await details.locator('b').count()).toBe(0);

  await details.getByRole('link', { name: 'Show in timeline' }).click();
  await page.waitForURL(/\?event=/);
  const { timeline_event_id: event } = await server().ask<{ timeline_event_id: string }>(
    'GET',
    `/api/v1/sessions/${session}/trace/mcp/${id}`,
  );
  expect(new URL(page.url()).searchParams.get('event')).toBe(event);

  await page.goBack();
  await choose(page, /get_log/);
  await details.getByText('The log is gone.').first().waitFor();
  await tab.expectAccessible();
});

test('JSON and curl copies of a call return the same call in a real shell', async () => {
  const tab = await visit(address());
  const { page } = tab;
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const id = await choose(page, /get_pods/);
  const known = await server().ask<unknown>('GET', `/api/v1/sessions/${session}/trace/mcp/${id}`);
  expect(JSON.parse(await copied(page, 'Copy JSON'))).toEqual(known);
  const answer = execFileSync('sh', ['-c', `${await copied(page, 'Copy curl')} --silent --fail`], { encoding: 'utf8' });
  expect(JSON.parse(answer)).toEqual(known);
  expect(JSON.parse(await copied(page, 'Copy JSON-RPC'))).toMatchObject({
    method: 'tools/call',
    params: { name: 'get_pods', arguments: { namespace: 'shop', note: tricky } },
  });
});

test('an LLM call can be repeated from a shell', async () => {
  const tab = await visit(address());
  const { page } = tab;
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('treeitem').first().waitFor();
  const calls = page.locator('[data-call]').filter({ hasNotText: /get_(pods|log)/ });
  // The second call of the first agent: its conversation has the tricky arguments and the results.
  await calls.nth(1).click();
  await page.getByTestId('conversation').waitFor();
  const command = await copied(page, 'Copy chat request as curl');
  expect(command).toContain('touch /tmp/never');
  const answer = execFileSync('sh', ['-c', `${command} --silent --fail`], {
    encoding: 'utf8',
    env: { ...process.env, OPENAI_BASE_URL: `${server().mock.url}/v1`, OPENAI_API_KEY: 'any' },
  });
  const { choices } = JSON.parse(answer) as { choices: { message: { content: string } }[] };
  expect(choices[0]?.message.content).toContain('Careful says');
});

test('two executions of a stage are compared side by side', async () => {
  const tab = await visit(address());
  const { page } = tab;
  await page.getByTestId('compare').click();
  const comparison = page.getByTestId('comparison');
  await comparison.waitFor();
  await page.waitForURL(/left=.*right=/);
  const numbers = comparison.getByRole('region', { name: 'Metrics' });
  expect(
    await numbers
      .getByRole('row', { name: /Tool calls 2 1/ })
      .first()
      .innerText(),
  ).toContain('−1');
  await comparison.getByText('Only on the left').waitFor();
  await comparison.getByText('Careful says: the cache has no bound', { exact: false }).waitFor();
  await comparison.getByText('Quick says: out of memory.').waitFor();
  await comparison.getByText('"prod"').waitFor();
  await tab.expectAccessible();

  // A saved link shows the same, the other way round if that is what it says.
  const url = new URL(page.url());
  const { left, right } = Object.fromEntries(url.searchParams);
  const other = await visit(`${address()}?left=${right}&right=${left}`);
  await other.page.getByText('Only on the right').waitFor();
  await other.page.getByRole('button', { name: 'Close comparison' }).click();
  await other.page.getByTestId('waterfall').waitFor();
});
