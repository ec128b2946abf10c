import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainScript } from '../kit/server';

const { server, visit } = scenario({ script: plainScript, auth: true });

test('login with a key returns to the requested page, and logout ends it', async () => {
  const id = await server().submit();
  await server().waitUntilEnded(id);

  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  tab.tolerated = [/401/];
  await page.getByTestId('login-key').waitFor();
  await tab.expectAccessible();

  await page.getByTestId('login-key').fill('tarsy_not_a_key');
  await page.getByTestId('login-submit').click();
  const refusal = page.getByRole('alert');
  await refusal.waitFor();
  await eventually(() => refusal.innerText()).toContain('API key');

  await page.getByTestId('login-key').fill(server().key);
  await page.getByTestId('login-submit').click();
  await page.getByTestId('outcome').waitFor();
  await eventually(() => page.url()).toContain(`/sessions/${id}`);

  // The browser session is a cookie that scripts cannot read.
  const cookies = await tab.context.cookies();
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: 'tarsy_session', httpOnly: true, sameSite: 'Strict' },
  ]);
  expect(await readOnce(() => page.evaluate(() => document.cookie))).toBe('');

  // Changes need the CSRF token: the same request without it is rejected.
  const refused = await page.evaluate(
    async (session) => (await fetch(`/api/v1/sessions/${session}/rerun`, { method: 'POST' })).status,
    id,
  );
  expect(refused).toBe(403);
  tab.tolerated.push(/403/);
  await page.getByTestId('rerun').click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /re-run/i })
    .click();
  await page.waitForURL((url) => !url.pathname.includes(id));
  await page.getByTestId('outcome').waitFor();

  await page
    .getByRole('button', { name: /bootstrap|log out|account/i })
    .first()
    .click();
  const out = page.getByTestId('log-out');
  if ((await out.count()) > 0) await out.click();
  await page.getByTestId('login-key').waitFor();
  await page.goto(`${server().url}/`);
  await page.getByTestId('login-key').waitFor();
});

test('revoking a key ends its logins', async () => {
  const made = await server().ask<{ key: string; id: string }>('POST', '/api/v1/keys', {
    name: 'reader',
    scopes: ['read'],
  });
  const tab = await visit('/login');
  const { page } = tab;
  await page.getByTestId('login-key').fill(made.key);
  await page.getByTestId('login-submit').click();
  await page.getByTestId('sessions-list').waitFor();

  // With a read-only key, the form is disabled from the start.
  await page.goto(`${server().url}/submit`);
  await page.getByTestId('submit-forbidden').waitFor();
  await tab.expectAccessible();

  tab.tolerated = [/401/];
  await server().ask('DELETE', `/api/v1/keys/${made.id}`);
  // The page redirects on its own, because the server closes its socket. Navigating before that would race with it.
  await page.getByTestId('login-key').waitFor();
  await page.goto(`${server().url}/`);
  await page.getByTestId('login-key').waitFor();
});

test('a login that ends while the page is disconnected leads to the login page', async () => {
  const id = await server().submit();
  await server().waitUntilEnded(id);
  const tab = await visit(`/login?next=/sessions/${id}`);
  const { page } = tab;
  tab.tolerated = [/401|503|ERR_|WebSocket/];
  await page.getByTestId('login-key').fill(server().key);
  await page.getByTestId('login-submit').click();
  await page.getByTestId('outcome').waitFor();
  await page.locator('[data-testid=connection][data-state=open]').waitFor();

  await server().crash();
  await page.locator('[data-testid=connection][data-state=lost]').waitFor();
  // The page sends no requests: only its socket reconnects, and is rejected.
  await tab.context.clearCookies();
  await server().restart();
  await page.getByTestId('login-key').waitFor();
  await eventually(() => new URL(page.url()).searchParams.get('next')).toBe(`/sessions/${id}`);
});
