import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { openFromMenu } from '../kit/navigation';
import { scenario } from '../kit/scenario';
import { plainScript } from '../kit/server';

interface Detail {
  id: string;
  alert_type: string;
  alert_data: string;
  runbook: string;
  mcp_selection: { servers: { name: string; tools?: string[] }[] } | null;
}

const { server, visit } = scenario({
  script: plainScript.replace(
    /mcp_servers: .*/,
    `mcp_servers:
  cluster:
    tools:
      - {name: get_pods, description: Lists pods., read_only: true, results: [{text: web-1}]}
      - {name: get_log, description: Reads a log., read_only: true, results: [{text: a log}]}
      - {name: restart, description: Restarts a pod., results: [{text: done}]}
  metrics: {tools: [{name: query, read_only: true, results: [{text: "1"}]}]}`,
  ),
  mcp: ['cluster', 'metrics'],
  config: `
agents:
  Investigator: {mcp_servers: [cluster, metrics]}
agent_chains:
  plain:
    description: One agent investigates.
    alert_types: [pod-crash, disk-full]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
`,
});

/** Waits until the server has loaded the tools, which the page then offers. */
async function waitForTools(): Promise<void> {
  const counts = async () => {
    const { servers } = await server().ask<{ servers: { tools: unknown[] }[] }>('GET', '/api/v1/system/mcp-servers');
    return servers.map((one) => one.tools.length);
  };
  await eventually(counts).toEqual([3, 1]);
}

const arrived = /\/sessions\/([0-9a-f-]{36})$/;

function detailAt(url: string): Promise<Detail> {
  return server().ask<Detail>('GET', `/api/v1/sessions/${arrived.exec(url)?.[1]}`);
}

test('a dropped file becomes the payload, and submitting opens its session', async () => {
  const tab = await visit('/submit');
  const { page } = tab;
  await page.getByTestId('submit-payload').fill('typed before');
  const drag = await page.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(['alert: PodOOMKilled\npod: web-1\nlimit: 512Mi\n'], 'alert.yaml'));
    return data;
  });
  await page.dispatchEvent('body', 'dragenter', { dataTransfer: drag });
  await page.getByTestId('submit-drop').waitFor();
  await page.dispatchEvent('body', 'dragover', { dataTransfer: drag });
  await page.dispatchEvent('body', 'drop', { dataTransfer: drag });
  await page.getByTestId('submit-drop').waitFor({ state: 'detached' });
  await page.getByText('Loaded alert.yaml as the payload.').waitFor();
  await eventually(() => page.getByTestId('submit-payload').inputValue()).toContain('limit: 512Mi');
  await page.getByText('Valid YAML, sent as JSON').waitFor();
  await tab.expectAccessible();

  // A file dropped by mistake can be undone.
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(() => page.getByTestId('submit-payload').inputValue()).toBe('typed before');
  await page.dispatchEvent('body', 'drop', { dataTransfer: drag });
  await page.getByText('Valid YAML, sent as JSON').waitFor();

  await page.getByTestId('submit-type').selectOption('disk-full');
  await page.getByTestId('submit-button').click();
  await page.waitForURL(arrived);
  await page.getByTestId('session-header').waitFor();
  const detail = await detailAt(page.url());
  expect(detail.alert_type).toBe('disk-full');
  expect(JSON.parse(detail.alert_data)).toEqual({ alert: 'PodOOMKilled', pod: 'web-1', limit: '512Mi' });
  expect(await server().waitUntilEnded(detail.id)).toBe('completed');
});

test('a click that starts while the alert types load is not lost', async () => {
  const { page } = await visit('/');
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  await page.route(/\/api\/v1\/(alert-types|system\/default-tools)/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${server().url}/submit`);
  const choose = page.getByRole('button', { name: 'Choose file' });
  const chooser = page.waitForEvent('filechooser');
  await choose.hover();
  await page.mouse.down();
  answer();
  await page.getByText('One agent investigates.').waitFor();
  await page.mouse.up();
  await chooser;
});

test('a chosen text file is loaded, and a binary file is refused', async () => {
  const { page } = await visit('/submit');
  const [chooser] = await Promise.all([
    page.waitForEvent('filechooser'),
    page.getByRole('button', { name: 'Choose file' }).click(),
  ]);
  await chooser.setFiles({ name: 'alert.json', mimeType: 'application/json', buffer: Buffer.from('{"pod": "web-9"}') });
  await page.getByText('Valid JSON').waitFor();

  await page
    .getByTestId('submit-file')
    .setInputFiles({ name: 'picture.png', mimeType: 'image/png', buffer: Buffer.from([0x89, 0x50, 0, 1, 0xff]) });
  await page.getByText('picture.png is not a text file').waitFor();
  await eventually(() => page.getByTestId('submit-payload').inputValue()).toBe('{"pod": "web-9"}');

  await page.getByTestId('submit-payload').press('Control+Enter');
  await page.waitForURL(arrived);
  const detail = await detailAt(page.url());
  expect(JSON.parse(detail.alert_data)).toEqual({ pod: 'web-9' });
  await server().waitUntilEnded(detail.id);
});

test('errors in JSON and YAML are shown with their position', async () => {
  const tab = await visit('/submit');
  const { page } = tab;
  const payload = page.getByTestId('submit-payload');
  const problem = page.getByTestId('submit-problem-data');
  await page.getByTestId('submit-format').getByText('JSON').click();
  await payload.fill('{\n  "pod": "web-1",\n  limit: 5\n}');
  await problem.getByText('Line 3, column 3: expected a name in double quotes').waitFor();
  await eventually(() => payload.getAttribute('aria-invalid')).toBe('true');
  await tab.expectAccessible();
  await page.getByRole('button', { name: 'Go to error' }).click();
  await eventually(() => payload.evaluate((field) => (field as HTMLTextAreaElement).selectionStart)).toBe(22);

  await page.getByTestId('submit-format').getByText('YAML').click();
  await payload.fill('pod: web-1\nlimit: [1, 2\nnode: a\n');
  await problem.getByText(/^Line \d, column \d+:/).waitFor();
  await page.getByTestId('submit-button').click();
  await eventually(() => new URL(page.url()).pathname).toBe('/submit');

  await payload.fill('pod: web-1\nlimit: [1, 2]\n');
  await page.getByText('Valid YAML, sent as JSON').waitFor();
  await eventually(() => problem.count()).toBe(0);

  await payload.fill('   ');
  await page.getByTestId('submit-button').click();
  await problem.getByText('The payload is empty.').waitFor();
});

test('a refusal of the server is shown at its field', async () => {
  const tab = await visit('/submit');
  const { page } = tab;
  tab.tolerated = [/\b4(00|22)\b/];
  await page.getByTestId('submit-payload').fill('The pod web-1 crashes.');
  await page.getByText('URL', { exact: true }).click();
  const field = page.getByTestId('submit-runbook-url');
  await field.fill('ftp://example.org/runbook.md');
  const [answer] = await Promise.all([
    page.waitForResponse((response) => response.url().endsWith('/api/v1/alerts')),
    page.getByTestId('submit-button').click(),
  ]);
  const refusal = (await answer.json()) as { detail: string; field: string };
  expect(refusal.field).toBe('runbook_url');
  const problem = page.getByTestId('submit-problem-runbook_url');
  await problem.waitFor();
  await eventually(() => problem.innerText()).toContain(refusal.detail);
  await eventually(() => field.getAttribute('aria-invalid')).toBe('true');
  await eventually(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  await tab.expectAccessible();
  await field.fill('');
  await eventually(() => problem.count()).toBe(0);
});

test('selected tools and a runbook reach the session, and can be resubmitted', async () => {
  await waitForTools();
  const { page } = await visit('/submit');
  await page.getByTestId('submit-payload').fill('The pod web-1 crashes.');
  await page.getByText('Text', { exact: true }).last().click();
  await page.getByTestId('submit-runbook').fill('# Look at the pods first');
  await page.getByTestId('submit-default-tools').getByText('get_log, get_pods, restart').waitFor();
  await page.getByTestId('submit-tools').getByText('Selected', { exact: true }).click();
  const cluster = page.getByTestId('mcp-server').filter({ hasText: 'cluster' });
  await cluster.locator('summary').click();
  await cluster.getByLabel('get_pods').check();
  await cluster.getByLabel('get_log').check();
  await cluster.getByText('2 of 3 tools').waitFor();
  await page.getByTestId('submit-button').click();
  await page.waitForURL(arrived);
  const sent = await detailAt(page.url());
  expect(sent.mcp_selection).toEqual({ servers: [{ name: 'cluster', tools: ['get_pods', 'get_log'] }] });
  expect(sent.runbook).toBe('# Look at the pods first');
  await server().waitUntilEnded(sent.id);

  await page.goto(`${server().url}/submit?from=${sent.id}`);
  await page.getByRole('heading', { name: 'New alert from a session' }).waitFor();
  await eventually(() => page.getByTestId('submit-payload').inputValue()).toBe('The pod web-1 crashes.');
  await eventually(() => page.getByTestId('submit-runbook').inputValue()).toBe('# Look at the pods first');
  await cluster.getByText('2 of 3 tools').waitFor();
  await page.getByTestId('submit-payload').fill('The pod web-2 crashes.');
  await page.getByTestId('submit-button').click();
  await page.waitForURL((url) => arrived.test(url.pathname));
  const again = await detailAt(page.url());
  expect(again.alert_data).toBe('The pod web-2 crashes.');
  expect(again.mcp_selection).toEqual(sent.mcp_selection);
  expect(again.runbook).toBe(sent.runbook);
  await server().waitUntilEnded(again.id);
});

test('a draft survives reload and navigation, and is cleared once submitted', async () => {
  const { page } = await visit('/submit');
  const payload = page.getByTestId('submit-payload');
  await page.getByTestId('submit-type').selectOption('disk-full');
  await payload.fill('Half of an alert');
  await page.reload();
  await payload.waitFor();
  await eventually(() => payload.inputValue()).toBe('Half of an alert');
  await eventually(() => page.getByTestId('submit-type').inputValue()).toBe('disk-full');

  await openFromMenu(page, 'System', 'Health');
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
  await page.goBack();
  await eventually(() => payload.inputValue()).toBe('Half of an alert');

  await page.getByTestId('submit-button').click();
  await page.waitForURL(arrived);
  await server().waitUntilEnded((await detailAt(page.url())).id);
  await page.goto(`${server().url}/submit`);
  await payload.waitFor();
  await eventually(() => payload.inputValue()).toBe('');
});
