import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainScript } from '../kit/server';

const { server, visit } = scenario({ script: plainScript, auth: true, oidc: true });

test('login at the issuer returns to the requested page, and logout ends it', async () => {
  const id = await server().submit();
  await server().waitUntilEnded(id);

  const tab = await visit(`/sessions/${id}?tab=alert`);
  const { page } = tab;
  tab.tolerated = [/a request to http:\/\/localhost:\d+\/oidc\/authorize/];
  const button = page.getByTestId('login-sso');
  await button.waitFor();
  await eventually(() => button.innerText()).toContain('Log in with Example');
  await tab.expectAccessible();

  await button.click();
  await page.getByRole('heading', { name: 'Mock issuer' }).waitFor();
  await eventually(() => new URL(page.url()).hostname).toBe('localhost');
  await page.getByRole('button', { name: 'rob' }).click();

  await page.getByTestId('outcome').waitFor();
  await eventually(() => page.url()).toBe(`${server().url}/sessions/${id}?tab=alert`);

  // Scripts cannot read the cookie, and nothing of the login remains.
  const cookies = (await tab.context.cookies()).filter(({ domain }) => domain === '127.0.0.1');
  expect(cookies.map(({ name, httpOnly, sameSite }) => ({ name, httpOnly, sameSite }))).toEqual([
    { name: 'tarsy_session', httpOnly: true, sameSite: 'Strict' },
  ]);

  await page.getByTestId('account').click();
  await page.getByText('rob@example.com').waitFor();
  await eventually(() => page.getByTestId('account-role').innerText()).toBe('responder');
  await tab.expectAccessible();
  await page.keyboard.press('Escape');

  // Changes work: the page sends the CSRF token of the session.
  await page.getByTestId('rerun').click();
  await page
    .getByRole('dialog')
    .getByRole('button', { name: /re-run/i })
    .click();
  await page.waitForURL((url) => !url.pathname.includes(id));
  await page.getByTestId('outcome').waitFor();

  await page.getByTestId('account').click();
  await page.getByTestId('log-out').click();
  await page.getByTestId('login-sso').waitFor();
  await page.goto(`${server().url}/`);
  await page.getByTestId('login-sso').waitFor();
});

test.each([360, 768, 1280])('refused logins are explained at %i px', async (width) => {
  const tab = await visit('/sessions', { viewport: { width, height: 800 } });
  const { page } = tab;
  tab.tolerated = [/a request to http:\/\/localhost:\d+\/oidc\/authorize/];

  // A user without a group that has a role.
  await page.getByTestId('login-sso').click();
  await page.getByRole('button', { name: 'eve' }).click();
  const refusal = page.getByTestId('login-refusal');
  await refusal.waitFor();
  await eventually(() => refusal.innerText()).toContain('no_role');
  await eventually(() => refusal.innerText()).toContain('you have no role here');
  await tab.expectAccessible();
  await eventually(() => page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);

  // The requested page is still known, and another attempt leads there.
  await eventually(() => new URL(page.url()).searchParams.get('next')).toBe('/sessions');
  await page.getByTestId('login-sso').click();
  await page.getByRole('button', { name: 'Deny' }).click();
  await page.getByText('login_denied').waitFor();
  await eventually(() => new URL(page.url()).searchParams.get('next')).toBe('/sessions');
});
