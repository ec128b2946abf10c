import { describe, expect, test } from 'vitest';
import { eventually, readOnce, stored } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain, plainScript } from '../kit/server';

/** Adds a separate chain whose MCP server does not respond, so that only this chain is affected. */
const withGone = `${plainChain}
  lost:
    description: Its tools are away.
    alert_types: [lost]
    stages: [{name: investigation, agents: [{name: Lost}]}]
`.replace('agents:\n', 'agents:\n  Lost: {mcp_servers: [gone]}\n');

describe('a server without keys', () => {
  const { server, visit } = scenario({
    config: withGone,
    mcp: ['cluster', 'gone'],
    script: plainScript.replace(
      /mcp_servers: .*/,
      `mcp_servers:
  cluster:
    tools:
      - name: get_pods
        description: Lists the pods of a namespace.
        read_only: true
        schema: {type: object, properties: {namespace: {type: string}}}
        results: [{text: web-1}]
      - {name: restart, description: Restarts a pod., results: [{text: done}]}`,
    ),
  });

  test('health shows server, warnings, active sessions and providers', async () => {
    const tab = await visit('/system');
    const { page } = tab;
    const { server_id, version } = await server().ask<{ server_id: string; version: string }>('GET', '/health');
    const card = page.getByRole('region', { name: 'Server' });
    await card.getByText(server_id).waitFor();
    await eventually(() => card.innerText()).toContain(version);
    // The unresponsive MCP server is a warning, which appears without a reload.
    const warning = page.getByTestId('system-warnings').getByText('gone', { exact: false }).first();
    await warning.waitFor();
    await card.getByText('Degraded').waitFor();
    const providers = page.getByRole('region', { name: 'LLM providers' });
    const row = () => providers.getByRole('row', { name: /scripted/ }).innerText();
    for (const part of ['(default)', 'openai', 'scripted-model', server().mock.url, 'SCRIPT_KEY'])
      await eventually(row).toContain(part);
    await page.getByText('No sessions are running or queued.').waitFor();
    await tab.expectAccessible();
  });

  test('tools lists and searches MCP servers, and marks unreachable ones', async () => {
    const tab = await visit('/system');
    const { page } = tab;
    await page.getByTestId('system-tab-tools').click();
    await page.waitForURL(/tab=tools/);
    const cluster = page.getByRole('region', { name: 'cluster' });
    await cluster.getByText('Healthy').waitFor();
    await eventually(() => cluster.getByTestId('mcp-tool').allInnerTexts()).toEqual([
      expect.stringMatching(/get_pods\s+read-only[\s\S]*Lists the pods/),
      expect.stringMatching(/restart\s+can write/),
    ]);
    await cluster.locator('summary').first().click();
    await cluster.getByText('"namespace"').waitFor();
    const gone = page.getByRole('region', { name: 'gone' });
    await gone.getByText('Unhealthy').waitFor();
    await tab.expectAccessible();

    await page.getByRole('searchbox', { name: 'Search tools' }).fill('restart');
    await gone.waitFor({ state: 'detached' });
    await eventually(() => page.getByTestId('mcp-tool').count()).toBe(1);
  });

  test('usage shows totals, charts and a table of real usage', async () => {
    const id = await server().submit();
    await server().waitUntilEnded(id);
    const tab = await visit('/system?tab=usage');
    const { page } = tab;
    const { total } = await server().ask<{ total: { llm_calls: number; usage: { total_tokens: number } } }>(
      'GET',
      '/api/v1/usage/summary',
    );
    expect(total.llm_calls).toBe(2);
    const sums = () => page.getByTestId('usage-total').innerText();
    await eventually(sums).toMatch(/Cost\s+<\$0\.01/);
    // The tooltip has the exact value.
    await eventually(() => page.getByTestId('usage-total').locator('[title^="$"]').getAttribute('title')).toMatch(
      /^\$0\.00\d+/,
    );
    await eventually(sums).toMatch(new RegExp(`Tokens\\s+${tokens(total.usage.total_tokens)}`));
    await eventually(sums).toMatch(/LLM calls\s+2/);
    await page.getByTestId('usage-chart').first().waitFor();
    await eventually(() => page.getByTestId('usage-chart').count()).toBe(2);
    // The chart is drawn: its canvas is not blank.
    const drawn = await page
      .locator('[data-testid=usage-chart] canvas')
      .first()
      .evaluate((element) => {
        const canvas = element as HTMLCanvasElement;
        const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
        return pixels?.some((value) => value !== 0) ?? false;
      });
    expect(drawn).toBe(true);
    await eventually(() => page.getByRole('row', { name: /pod-crash/ }).innerText()).toContain('$');
    await tab.expectAccessible();

    await page.getByTestId('usage-as-table').click();
    const today = new Date().toISOString().slice(0, 10);
    await eventually(() => page.getByTestId('usage-day').first().locator('time').getAttribute('datetime')).toBe(today);
    await eventually(() => page.getByTestId('usage-day').count()).toBe(30);
    await page.getByTestId('usage-range').getByText('7 days').click();
    await eventually(() => page.getByTestId('usage-day').count()).toBe(7);
    await tab.expectAccessible();
  });

  test('config shows every setting with its value and origin, and no secret', async () => {
    const tab = await visit('/system?tab=config');
    const { page } = tab;
    const search = page.getByRole('searchbox', { name: 'Search settings' });
    await search.fill('orphan_threshold');
    const setting = page.getByTestId('config-setting');
    await eventually(() => setting.count()).toBe(1);
    await eventually(() => setting.innerText()).toMatch(/queue\.orphan_threshold\s+2s\s+.*tarsy\.yaml/);
    await search.fill('worker_count');
    await eventually(() => setting.allInnerTexts()).toEqual([expect.stringMatching(/worker_count\s+5\s+built-in/)]);
    await search.fill('');
    await page.getByTestId('config-section').first().waitFor();
    expect(await readOnce(() => page.locator('main').innerText())).not.toContain('a-key-of-the-script');
    await tab.expectAccessible();
    // Without built-in values, only configured settings remain.
    const { settings } = await server().ask<{ settings: { origin: string }[] }>('GET', '/api/v1/system/config');
    const own = settings.filter(({ origin }) => origin !== 'built-in').length;
    await page.getByTestId('config-origin-built-in').click();
    await page.getByText(`${own} of ${settings.length} settings`).waitFor();
  });

  test('keys shows that none is required, and arrow keys move between tabs', async () => {
    const { page } = await visit('/system');
    await page.getByTestId('system-tab-health').focus();
    for (const name of ['jobs', 'tools', 'usage', 'config', 'keys']) {
      await page.keyboard.press('ArrowRight');
      await page.waitForURL(new RegExp(`tab=${name}`));
      await eventually(() => page.getByTestId(`system-tab-${name}`).getAttribute('aria-selected')).toBe('true');
    }
    await page.getByTestId('keys-not-required').waitFor();
    await page.keyboard.press('ArrowRight');
    await page.getByTestId('system-tab-health').and(page.locator('[aria-selected=true]')).waitFor();
  });
});

describe('a server with keys', () => {
  const { server, visit } = scenario({ auth: true });

  test('a created key works immediately and is refused after it is revoked', async () => {
    const tab = await visit('/system?tab=keys');
    const { page } = tab;
    await page.getByTestId('login-key').fill(server().key);
    await page.getByTestId('login-submit').click();
    await page.getByTestId('key-create').click();
    await page.getByTestId('key-submit').click();
    tab.tolerated = [/\b4(00|22)\b/];
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByTestId('key-name').fill('pager');
    await page.getByTestId('key-scope-write').check();
    await tab.expectAccessible();
    await page.getByTestId('key-submit').click();
    const secret = await page.getByTestId('key-secret').innerText();
    await page.getByRole('button', { name: 'Done' }).click();

    const submit = () =>
      fetch(`${server().url}/api/v1/alerts`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${secret}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ alert_type: 'pod-crash', data: 'The pod web-1 crashes.' }),
      });
    const accepted = await submit();
    expect(accepted.status).toBe(202);
    const { session_id } = (await accepted.json()) as { session_id: string };
    await server().waitUntilEnded(session_id);

    const row = page.getByTestId('key').filter({ hasText: 'pager' });
    await eventually(() => row.innerText()).toContain('write');
    expect(await readOnce(() => page.locator('main').innerText())).not.toContain(secret);
    await row.getByTestId('key-revoke').click();
    await page.getByTestId('key-revoke-confirm').click();
    await row.getByText('Revoked').waitFor();
    expect((await stored(submit())).status).toBe(401);
    await tab.expectAccessible();
  });
});

/** Formats token counts like the page. */
function tokens(count: number): string {
  return count < 1000 ? String(count) : `${(count / 1000).toFixed(1)}k`;
}
