import { test } from 'vitest';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainScript } from '../kit/server';

const { server, visit } = scenario({ script: plainScript });

test('the first visit shows how to submit an alert, then the session', async () => {
  const tab = await visit('/');
  const { page } = tab;
  const empty = page.getByTestId('empty-first-visit');
  // The alert type in the example comes from a separate response.
  await eventually(() => empty.innerText()).toContain('"alert_type":"kubernetes"');
  const text = () => empty.innerText();
  await eventually(text).toContain(`${server().url}/api/v1/alerts`);
  await eventually(text).toContain('tarsy submit');
  await tab.expectAccessible();

  const id = await server().submit();
  const row = page.locator(`[data-testid=session-row][data-session-id="${id}"]`);
  await row.waitFor();
  await page.locator(`[data-testid=session-row][data-session-id="${id}"][data-status=completed]`).waitFor();
  await eventually(() => row.innerText()).toContain('Out of memory.');
  await eventually(() => empty.count()).toBe(0);
  await tab.expectAccessible();
});

test('an unknown address shows an error and a link back', async () => {
  const { page } = await visit('/no/such/page');
  await page.getByRole('link', { name: 'Sessions', exact: true }).first().click();
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
});

test('an unknown session shows the error of the server', async () => {
  const tab = await visit('/sessions/00000000-0000-7000-8000-000000000000');
  tab.tolerated = [/404/];
  await tab.page.getByText('there is no session', { exact: false }).waitFor();
  await tab.expectAccessible();
});
