/** The Audit page: filters, what changed, export, and who can read it. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({ auth: true });

async function login(key: string, address: string) {
  const tab = await visit(`/login?next=${encodeURIComponent(address)}`);
  await tab.page.getByTestId('login-key').fill(key);
  await tab.page.getByTestId('login-submit').click();
  return tab;
}

test('actions are listed, filtered by who and what, and exported, at any width', async () => {
  const made = await server().ask<{ id: string }>('POST', '/api/v1/keys', { name: 'reader', scopes: ['read'] });
  await server().ask('DELETE', `/api/v1/keys/${made.id}`);
  const tab = await login(server().key, '/system/audit');
  const { page } = tab;
  const rows = page.getByTestId('audit-row');
  await rows.filter({ hasText: 'key.revoke' }).waitFor();
  await rows.filter({ hasText: 'browser.login' }).first().waitFor();
  await eventually(() => page.getByTestId('audit-head').innerText()).toMatch(/^Last row: \d+, .*hash [0-9a-f]{64}$/);
  for (const [width, colorScheme] of [
    [390, 'dark'],
    [768, 'light'],
    [1440, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    const sideways = () =>
      page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    await eventually(sideways, `at ${width} px`).toBe(false);
    await tab.expectAccessible();
  }

  await page.getByTestId('audit-action').fill('key.create');
  await page.waitForURL(/action=key\.create/);
  // The server's first key is the other one.
  await eventually(() => rows.count()).toBe(2);
  await eventually(() => rows.first().innerText()).toContain(made.id);
  const download = page.waitForEvent('download');
  await page.getByTestId('audit-export').click();
  const lines = readFileSync(await (await download).path(), 'utf8')
    .trim()
    .split('\n');
  expect(lines.map((line) => JSON.parse(line).action)).toEqual(['key.create', 'key.create']);

  await page.getByTestId('audit-actor').fill('nobody');
  await page.getByRole('heading', { name: 'No actions match these filters' }).waitFor();
  await page.getByTestId('audit-clear').click();
  await rows.filter({ hasText: 'key.revoke' }).waitFor();
});

test('readers are told that only administrators can read the log', async () => {
  const { key } = await server().ask<{ key: string }>('POST', '/api/v1/keys', { name: 'guest', scopes: ['read'] });
  const { page } = await login(key, '/system/audit');
  await page.getByRole('heading', { name: 'Only administrators can read the audit log' }).waitFor();
  expect(await readOnce(() => page.getByTestId('audit-row').count())).toBe(0);
});
