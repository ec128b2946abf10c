/** The Approvals page: calls of all sessions, decided by keys and with the pointer, undone, and left. */
import { expect, test } from 'vitest';
import { eventually, readOnce, stored } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';

const script = `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies: [{text: "The service **needs** more room.", tool_calls: [{name: cluster__scale, arguments: {replicas: 3}}], times: forever}]
  - when: {agent: Investigator}
    replies: [{text: Done., times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Scaled., times: forever}]
mcp_servers:
  cluster:
    tools:
      - {name: scale, description: Changes the number of replicas., results: [{text: scaled}]}
`;

const config = `${plainChain}
approvals: {rules: [{tool: scale, policy: ask}]}
`;

const { server, visit } = scenario({ script, config, auth: true, system: 'auth: {visibility: team}' });

interface Waiting {
  approvals: { id: string; session_id: string }[];
}

const waiting = (id: string) => server().ask<Waiting>('GET', `/api/v1/approvals?session_id=${id}`);

/** Submits alerts, one after another, whose calls then wait; returns the ids of their approvals. */
async function asking(...alerts: unknown[]): Promise<string[]> {
  const ids: string[] = [];
  for (const alert of alerts) {
    const session = await server().submit(alert);
    await eventually(async () => (await waiting(session)).approvals.length).toBe(1);
    ids.push((await waiting(session)).approvals[0]?.id ?? '');
  }
  return ids;
}

const alertOf = (team: string) => ({ title: `Checkout of ${team} is slow`, labels: { team } });

const statusOf = async (id: string) =>
  (await server().ask<{ approval: { status: string } }>('GET', `/api/v1/approvals/${id}`)).approval.status;

async function login(key: string, address: string) {
  const tab = await visit(`/login?next=${encodeURIComponent(address)}`);
  await tab.page.getByTestId('login-key').fill(key);
  await tab.page.getByTestId('login-submit').click();
  return tab;
}

test('calls are listed with their reasons, decided by keys and undone, at any width', async () => {
  const tab = await login(server().key, '/approvals');
  const { page } = tab;
  await page.getByRole('heading', { name: 'No call waits for approval' }).waitFor();

  // New calls appear without a reload, the first to expire first.
  const ids = await asking('The pod web-0 crashes.', 'The pod web-1 crashes.');
  const cards = page.getByTestId('approval');
  const shown = () => cards.evaluateAll((all) => all.map((card) => card.getAttribute('data-approval-id')));
  await eventually(shown).toEqual(ids);
  const [first, second] = [cards.nth(0), cards.nth(1)];
  await eventually(() => first.getByTestId('approval-statement').innerText()).toContain(
    'The service **needs** more room.',
  );
  await eventually(() => first.getByTestId('approval-does').innerText()).toContain('Changes the number of replicas.');
  await eventually(() => first.getByTestId('approval-rule').innerText()).toContain(
    'A rule makes calls of the tool scale wait for a person.',
  );
  await eventually(() => first.getByTestId('approval-earlier').innerText()).toContain('No decision about this tool');
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

  // The keys decide about the current card: the first, until j moves on.
  await eventually(() => first.getAttribute('data-current')).toBe('true');
  await page.keyboard.press('y');
  await first.getByTestId('approval-held').waitFor();
  await tab.expectAccessible();
  await page.keyboard.press('u');
  await first.getByTestId('approval-approve').waitFor();
  await page.keyboard.press('j');
  await eventually(() => second.getAttribute('data-current')).toBe('true');
  await page.keyboard.press('n');
  await page.getByLabel('Reason').fill('Not on a Friday.');
  await page.getByTestId('reject-confirm').click();
  await eventually(shown).toEqual([ids[0]]);
  await eventually(() => statusOf(ids[1] ?? '')).toBe('rejected');
  expect(await stored(statusOf(ids[0] ?? ''))).toBe('waiting');

  await page.keyboard.press('y');
  await page.getByRole('heading', { name: 'No call waits for approval' }).waitFor();
  await eventually(() => statusOf(ids[0] ?? '')).toBe('approved');
  await page.getByTestId('approvals-decided').click();
  await page.waitForURL(/show=decided/);
  const rows = page.getByTestId('decided-call');
  await eventually(() => rows.count()).toBe(2);
  await eventually(() => rows.nth(0).innerText()).toContain('Not on a Friday.');
  await eventually(() => rows.nth(1).innerText()).toContain('Approved');
  await tab.expectAccessible();

  // The next request shows both decisions.
  await asking('The pod web-2 crashes.');
  await page.getByTestId('approvals-waiting').click();
  await eventually(() => cards.getByTestId('approval-earlier').innerText()).toContain(
    '1 approved, 1 rejected. The last one was rejected by',
  );
  await page.keyboard.press('y');
  await page.getByRole('heading', { name: 'No call waits for approval' }).waitFor();
});

test('leaving the page before a decision is sent sends nothing and says so', async () => {
  const [id = ''] = await asking('The pod web-3 crashes.');
  const tab = await login(server().key, '/approvals');
  const { page } = tab;
  const sent: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  await page.getByTestId('approval-approve').click();
  await page.getByTestId('approval-held').waitFor();
  // The old page stays until the code of the next one is there.
  let load = () => {};
  const loading = new Promise<void>((resolve) => {
    load = resolve;
  });
  await page.route('**/assets/*.js', async (route) => {
    await loading;
    await route.continue();
  });
  await page.getByTestId('approval-session').click();
  const dialog = page.getByRole('dialog', { name: 'Nothing was sent' });
  await dialog.waitFor();
  await tab.expectAccessible();
  await dialog.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL(/\/sessions\//);
  await eventually(() => page.getByTestId('approval-approve').isDisabled()).toBe(true);
  await page.keyboard.press('y');
  expect(await readOnce(() => page.getByTestId('approval-held').count())).toBe(0);
  load();
  await page.getByTestId('session-header').waitFor();
  expect(sent.filter((url) => url.endsWith('/approve'))).toEqual([]);
  expect(await stored(statusOf(id))).toBe('waiting');

  // The same card is in the session; its buttons decide there.
  await page.getByTestId('approval-approve').click();
  await eventually(() => statusOf(id)).toBe('approved');
});

test('readers see no buttons, and members of a team only the calls of their team', async () => {
  const [own] = await asking(alertOf('payments'), alertOf('storage'));
  const keyWith = async (name: string, more: object) =>
    (await server().ask<{ key: string }>('POST', '/api/v1/keys', { name, scopes: ['read'], ...more })).key;
  const reader = await login(await keyWith('reader', {}), '/approvals');
  const cards = reader.page.getByTestId('approval');
  await eventually(() => cards.count()).toBe(2);
  await eventually(() => reader.page.getByTestId('approval-note').allInnerTexts()).toEqual([
    expect.stringContaining('read-only'),
    expect.stringContaining('read-only'),
  ]);
  expect(await readOnce(() => reader.page.getByTestId('approval-approve').count())).toBe(0);

  const member = await login(await keyWith('member', { teams: ['payments'] }), '/approvals');
  await eventually(() =>
    member.page.getByTestId('approval').evaluateAll((all) => all.map((card) => card.getAttribute('data-approval-id'))),
  ).toEqual([own]);
  await eventually(() => member.page.getByTestId('approval').innerText()).toContain('Checkout of payments is slow');
});
