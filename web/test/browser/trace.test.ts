import { execFileSync } from 'node:child_process';
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';

/** Hostile to a shell and to HTML. */
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
  expect(await server().waitUntilEnded(session)).toBe('completed');
});

/** Returns the name of the row that is active in keyboard navigation. */
async function activeRow(page: Page): Promise<string> {
  const id = await page.getByRole('tree').getAttribute('aria-activedescendant');
  return (await page.locator(`[id="${id}"]`).innerText()).replaceAll('\n', ' ');
}

/** Opens a call by its name and returns its id. */
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
  await eventually(read).not.toBe('');
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
  await eventually(() => page.locator('[data-call]').count()).toBe(9);
  await eventually(() => page.getByTestId('trace').innerText()).toContain('6 LLM calls, 3 tool calls');

  await tree.focus();
  await page.keyboard.press('Home');
  await eventually(() => activeRow(page)).toContain('investigation');
  await page.keyboard.press('ArrowRight');
  await eventually(() => activeRow(page)).toContain('Careful');
  await page.keyboard.press('ArrowLeft');
  await eventually(() => activeRow(page)).toContain('Careful');
  await eventually(() => rows.count()).toBeLessThan(before);
  await page.keyboard.press('ArrowRight');
  await eventually(() => rows.count()).toBe(before);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.waitForURL(/[?&]call=/);
  await page.getByTestId('conversation').waitFor();
  await tab.expectAccessible();
  // The selected call is in the address, so it can be shared.
  await page.reload();
  await page.getByTestId('conversation').waitFor();
});

test('rows show call number and first argument, and the failed call is open', async () => {
  const tab = await visit(address());
  const { page } = tab;
  const row = (name: string) => page.getByRole('treeitem', { name });
  await row('Tool call 1.1.1 get_pods namespace=shop').waitFor();
  await eventually(() => row('Tool call 1.2.1 get_pods namespace=prod').count()).toBe(1);
  await eventually(() => row('Tool call Failed 1.1.2 get_log pod=web-1').getAttribute('aria-selected')).toBe('true');
  const details = page.getByTestId('call-details');
  await details.getByText('The log is gone.').first().waitFor();
  await eventually(() => details.getByRole('heading', { level: 2 }).innerText()).toContain('first failed call');
  // It was selected automatically, so it is not in the address, but a copied link includes it.
  await eventually(() => new URL(page.url()).search).toBe('');
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy link' }).click();
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toMatch(/trace\?call=[0-9a-f-]{36}$/);

  // A call named by a link takes precedence.
  const id = await choose(page, /1\.1\.1 get_pods/);
  const other = await visit(`${address()}?call=${id}`);
  await other.page.getByTestId('call-details').getByText('web-1 in shop was OOMKilled').waitFor();
  expect(await readOnce(() => other.page.getByTestId('opened-reason').count())).toBe(0);
});

test('kind, failure and text filter the rows, and the address keeps them', async () => {
  const tab = await visit(address());
  const { page } = tab;
  const calls = page.locator('[data-call]');
  const chip = (kind: string) => page.getByTestId(kind);
  await eventually(() => calls.count()).toBe(9);
  await eventually(() => chip('kind-llm').innerText()).toMatch(/LLM\s*6/);
  await eventually(() => chip('kind-tool').innerText()).toMatch(/Tools\s*3/);
  await eventually(() => chip('only-failed').innerText()).toMatch(/Failed\s*1/);

  await chip('kind-tool').click();
  await page.waitForURL(/kind=tool/);
  await eventually(() => calls.count()).toBe(3);
  await eventually(() => page.locator('[data-kind=llm]').count()).toBe(0);
  await page.getByTestId('trace-search').fill('namespace=prod');
  await page.waitForURL(/search=namespace/);
  await eventually(() => calls.count()).toBe(1);
  await eventually(() => page.getByTestId('trace-matches').innerText()).toMatch(/^1 of \d+ rows$/);
  await tab.expectAccessible();
  // A saved link shows the same filters.
  await page.reload();
  await eventually(() => calls.count()).toBe(1);
  await eventually(() => chip('kind-tool').getAttribute('aria-pressed')).toBe('true');
  await chip('only-failed').click();
  await page.getByText('No calls match these filters').waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).first().click();
  await eventually(() => calls.count()).toBe(9);

  // Each kind has its own colour in both themes.
  for (const theme of ['light', 'dark']) {
    await page.evaluate((name) => document.documentElement.setAttribute('data-theme', name), theme);
    const colours = await page
      .getByTestId('trace-filter')
      .locator('button > span:first-child')
      .evaluateAll((spans) => spans.map((span) => getComputedStyle(span).backgroundColor));
    expect(new Set(colours).size).toBe(colours.length);
  }
});

test('the palette has every action of the trace', async () => {
  const { page } = await visit(address());
  const palette = page.getByTestId('palette');
  const run = async (name: string) => {
    await page.keyboard.press('Control+k');
    await palette.getByRole('group', { name: 'On this page' }).getByRole('option', { name, exact: true }).click();
  };
  await page.locator('[data-call]').first().waitFor();
  await run('Show only failed calls');
  await page.waitForURL(/failed=true/);
  await run('Clear filters');
  await page.waitForURL((url) => url.search === '');
  await run('Show Tools in the trace');
  await page.waitForURL(/kind=tool/);
  await run('Clear filters');
  await run('Select the slowest call');
  await page.waitForURL(/call=/);
  await run('Collapse all');
  await eventually(() => page.locator('[data-call]').count()).toBe(0);
  await run('Expand all');
  await run('Search calls');
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('aria-label'))).toBe('Search calls');
  await run('Compare: Two agents of a stage');
  await page.getByTestId('comparison').waitFor();
  await run('Close comparison');
  await page.getByTestId('waterfall').waitFor();
  const download = page.waitForEvent('download');
  await run('Export all data (JSON)');
  expect((await download).suggestedFilename()).toMatch(/\.json$/);
  await run('Back to session');
  await page.waitForURL(new RegExp(`/sessions/${session}$`));
});

test('on a phone a call opens in a sheet, and Back closes it', async () => {
  const tab = await visit(address(), { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const { page } = tab;
  await page.locator('[data-call]').first().waitFor();
  expect(await readOnce(() => page.getByTestId('call-details').count())).toBe(0);
  for (const name of ['Collapse all', 'Compare', 'Export', 'Copy link']) {
    const box = () => page.getByTestId('trace').locator('header').getByText(name, { exact: true }).boundingBox();
    await eventually(async () => (await box())?.width, name).toBeGreaterThan(0);
  }
  for (const button of await page.getByTestId('trace').locator('header button, header a, search button').all()) {
    await eventually(async () => (await button.boundingBox())?.height, await button.innerText()).toBeGreaterThanOrEqual(
      44,
    );
  }
  await page.getByRole('treeitem', { name: /1\.1\.1 get_pods/ }).click();
  const sheet = page.getByRole('dialog');
  await sheet.getByText('web-1 in shop was OOMKilled').waitFor();
  await tab.expectAccessible();
  await page.goBack();
  await eventually(() => sheet.count()).toBe(0);
  await page.getByRole('treeitem', { name: /get_log/ }).click();
  await sheet.waitFor();
  await page.getByRole('button', { name: 'Close call' }).click();
  await eventually(() => sheet.count()).toBe(0);
  await eventually(() => new URL(page.url()).search).toBe('');
});

test('an LLM call shows its conversation and response', async () => {
  const { page } = await visit(address());
  await page.getByRole('treeitem', { name: /Careful/ }).waitFor();
  await page.locator('[data-call]').first().click();
  await page.getByTestId('conversation').waitFor();
  const text = () => page.getByTestId('call-details').innerText();
  await eventually(text).toContain('scripted-model');
  await eventually(text).toContain('I look at the pods first.');
  const conversation = page.getByTestId('conversation');
  await eventually(() => conversation.innerText()).toMatch(/1\. System[\s\S]*2\. User/);
  await page.getByTestId('response').getByText('cluster__get_pods').waitFor();
});

test('a tool call shows arguments and result, hostile or not', async () => {
  const tab = await visit(address());
  const { page } = tab;
  const id = await choose(page, /get_pods/);
  const details = page.getByTestId('call-details');
  await details.getByText('web-1 in shop was OOMKilled').waitFor();
  await eventually(() => details.innerText()).toContain(JSON.stringify(tricky));
  expect(await readOnce(() => details.locator('b').count())).toBe(0);

  await details.getByRole('link', { name: 'Show in timeline' }).click();
  await page.waitForURL(/\?event=/);
  const { timeline_event_id: event } = await server().ask<{ timeline_event_id: string }>(
    'GET',
    `/api/v1/sessions/${session}/trace/mcp/${id}`,
  );
  await eventually(() => new URL(page.url()).searchParams.get('event')).toBe(event);

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
  const json = await copied(page, 'Copy JSON');
  expect(JSON.parse(json)).toEqual(known);
  const answer = execFileSync('sh', ['-c', `${await copied(page, 'Copy curl')} --silent --fail`], { encoding: 'utf8' });
  expect(JSON.parse(answer)).toEqual(known);
  const rpc = await copied(page, 'Copy JSON-RPC');
  expect(JSON.parse(rpc)).toMatchObject({
    method: 'tools/call',
    params: { name: 'get_pods', arguments: { namespace: 'shop', note: tricky } },
  });
});

test('an LLM call can be repeated in a shell', async () => {
  const tab = await visit(address());
  const { page } = tab;
  await tab.context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('treeitem').first().waitFor();
  const calls = page.locator('[data-call]').filter({ hasNotText: /get_(pods|log)/ });
  // The first agent's second call: its conversation has the hostile arguments and the results.
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
  await page.getByTestId('compare-agents').click();
  const comparison = page.getByTestId('comparison');
  await comparison.waitFor();
  await page.waitForURL(/left=.*right=/);
  const numbers = comparison.getByRole('region', { name: 'Metrics' });
  await eventually(() =>
    numbers
      .getByRole('row', { name: /Tool calls 2 1/ })
      .first()
      .innerText(),
  ).toContain('−1');
  await comparison.getByText('Only on the left').waitFor();
  await comparison.getByText('Careful says: the cache has no bound', { exact: false }).waitFor();
  await comparison.getByText('Quick says: out of memory.').waitFor();
  await comparison.getByText('"prod"').waitFor();
  await tab.expectAccessible();

  // A saved link shows the same comparison, with the sides in the order of the link.
  const url = new URL(page.url());
  const { left, right } = Object.fromEntries(url.searchParams);
  const other = await visit(`${address()}?left=${right}&right=${left}`);
  await other.page.getByText('Only on the right').waitFor();
  await other.page.getByRole('button', { name: 'Close comparison' }).click();
  await other.page.getByTestId('waterfall').waitFor();
});
