/**
 * Operations of people on call: pause and resume, cancel the sessions that match a filter, and share a session with
 * someone without a login.
 */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain, plainScript } from '../kit/server';

const { server, visit } = scenario({ script: plainScript, config: plainChain, auth: true });

async function logIn(page: Page): Promise<void> {
  await page.getByTestId('login-key').fill(server().key);
  await page.getByTestId('login-submit').click();
}

test('intake is paused from the palette, shown on every page and resumed from the banner', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await logIn(page);
  await page.getByTestId('palette-open').click();
  await page.getByPlaceholder('Search pages, commands and sessions').fill('pause intake');
  await page.getByRole('option', { name: 'Pause intake' }).click();
  await page.getByTestId('pause-reason').fill('Database upgrade');
  await tab.expectAccessible();
  await page.getByTestId('pause-submit').click();

  const banner = page.getByTestId('pause-banner');
  await banner.waitFor();
  const text = () => banner.innerText();
  for (const part of ['Intake is paused', 'until', 'Database upgrade']) await eventually(text).toContain(part);
  await tab.expectAccessible();
  const refused = await server()
    .submit()
    .catch((error: unknown) => String(error));
  expect(refused).toContain('intake_paused');

  await page.goto(`${server().url}/system`);
  await page.getByTestId('system-pauses').getByText('Paused', { exact: true }).waitFor();
  await page.getByTestId('system-warnings').getByText('paused intake').waitFor();

  for (const width of [360, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    await banner.waitFor();
    await eventually(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
  }
  await page.getByTestId('resume-intake').click();
  await banner.waitFor({ state: 'detached' });
  await server().waitUntilEnded(await server().submit());
});

test('sessions matching a filter are cancelled after confirming their number', async () => {
  await server().ask('PUT', '/api/v1/system/pauses/claiming', { reason: 'storm' });
  await server().submit('storm one');
  await server().submit('storm two');
  const other = await server().submit('quiet');

  const tab = await visit('/?search=storm');
  const { page } = tab;
  await logIn(page);
  await page.getByTestId('pause-banner').waitFor();
  await page.getByTestId('cancel-matching').click();
  await page.getByTestId('cancel-number').waitFor();
  await eventually(() => page.getByRole('dialog').innerText()).toContain('Cancel 2 sessions?');
  await tab.expectAccessible();
  await page.getByTestId('confirm').click();
  await eventually(() => page.getByRole('dialog').count()).toBe(0);
  // Cancelling works while claiming is paused, and only matching sessions are cancelled.
  await eventually(async () => {
    const { sessions } = await server().ask<{ sessions: { status: string }[] }>(
      'GET',
      '/api/v1/sessions?status=cancelled',
    );
    return sessions.length;
  }).toBe(2);
  expect((await server().ask<{ status: string }>('GET', `/api/v1/sessions/${other}`)).status).toBe('pending');

  await page.getByTestId('cancel-matching').click();
  await page.getByTestId('cancel-none').waitFor();
  await server().ask('DELETE', '/api/v1/system/pauses/claiming');
  await server().waitUntilEnded(other);
});

test('a shared session is readable without a login until it is revoked', async () => {
  const id = await server().submit();
  await server().waitUntilEnded(id);
  const { page } = await visit(`/sessions/${id}`);
  await logIn(page);
  await page.getByTestId('share-session').click();
  await page.getByTestId('share-create').click();
  const link = await page.getByTestId('share-link').innerText();
  expect(link).toContain('/shared#tarsyshare_');

  for (const width of [360, 1280]) {
    const reader = await visit('/shared', { viewport: { width, height: 800 } });
    // The console reports every unsuccessful response.
    reader.tolerated = [/404/];
    const asked: string[] = [];
    reader.page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await reader.page.getByText('This link does not work').waitFor();
    await reader.page.goto('about:blank');
    const response = await reader.page.goto(server().url + new URL(link).pathname + new URL(link).hash);
    expect(response?.headers()['x-robots-tag']).toBe('noindex, nofollow');
    expect(response?.headers()['referrer-policy']).toBe('no-referrer');
    await reader.page.getByTestId('shared-session').waitFor();
    await eventually(() => reader.page.getByTestId('shared-banner').innerText()).toContain('read-only, until');
    await reader.page.getByTestId('shared-event').first().locator('summary').click();
    await reader.expectAccessible();
    await eventually(() => reader.page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    for (const changing of ['cancel', 'rerun', 'chat-open', 'share-session', 'feedback'])
      expect(await readOnce(() => reader.page.getByTestId(changing).count())).toBe(0);
    const api = new Set(asked.filter((path) => path.startsWith('/api/')));
    expect([...api].sort()).toEqual(['/api/v1/me', '/api/v1/shared']);
  }

  await page.getByTestId('share-revoke').click();
  await page.getByTestId('share-list').getByText('Revoked').waitFor();
  const late = await visit(new URL(link).pathname + new URL(link).hash);
  late.tolerated = [/404/];
  await late.page.getByText('This link does not work').waitFor();
});
