/** Tool calls that wait for an approval: approved, rejected and edited in the timeline, found from the list. */
import { expect, test } from 'vitest';
import { eventually, readOnce, stored } from '../kit/expecting';
import { openFilters } from '../kit/filters';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';
import { callOf, callRow, status } from '../kit/timeline';

const script = `
version: 1
routes:
  - when: {agent: Investigator, user: "\`slow\`", turn: 0}
    replies: [{tool_calls: [{name: cluster__get_pods}], times: forever}]
  - when: {agent: Investigator, user: "\`slow\`", turn: 1}
    replies: [{tool_calls: [{name: cluster__scale, arguments: {replicas: 3, service: web}}], times: forever}]
  - when: {agent: Investigator, turn: 0}
    replies: [{text: "The service needs more room.", tool_calls: [{name: cluster__scale, arguments: {replicas: 12345678901234567890, service: "<b>web</b>"}}], times: forever}]
  - when: {agent: Investigator}
    replies: [{text: "Done [call 1.1.1].", times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Scaled., times: forever}]
mcp_servers:
  cluster:
    tools:
      - {name: get_pods, read_only: true, results: [{text: web-1}]}
      - {name: scale, results: [{text: "scaled {{.service}}"}]}
`;

const config = `${plainChain}
approvals: {rules: [{tool: get_pods, policy: always}, {server: "*", policy: ask}]}
`;

const { server, visit } = scenario({ script, config, held: ['get_pods'] });

/** Submits an alert and waits until its tool call waits for an approval. */
async function asking(): Promise<string> {
  const id = await server().submit();
  await eventually(async () => (await waiting(id)).length).toBe(1);
  return id;
}

async function waiting(id: string) {
  const { approvals } = await server().ask<{ approvals: { id: string }[] }>(
    'GET',
    `/api/v1/approvals?session_id=${id}`,
  );
  return approvals;
}

test('a waiting call shows its exact arguments and is approved, in any theme and width', async () => {
  const id = await asking();
  const tab = await visit(`/sessions/${id}`, { reducedMotion: 'reduce' });
  const { page } = tab;
  const card = page.getByTestId('approval');
  await card.getByText('Investigator wants to call cluster.scale').waitFor();
  await status(page, 'waiting').waitFor();
  await eventually(() => page.title()).toMatch(/^\?/);
  await eventually(() => page.getByTestId('now-agent').innerText()).toContain('Waiting for approval of cluster.scale');
  await eventually(() => card.getByTestId('approval-arguments').locator('pre').innerText()).toBe(
    '{\n  "service": "<b>web</b>",\n  "replicas": 12345678901234567890\n}',
  );
  await eventually(() => card.innerText()).toContain('approvals.rules[1]');
  await eventually(() => card.getByTestId('approval-expiry').innerText()).toMatch(/^Expires in /);

  await page.getByTestId('show-waiting').click();
  await eventually(() => callRow(page, '1.1.1').getAttribute('data-marked')).toBe('true');
  for (const [width, colorScheme] of [
    [360, 'dark'],
    [768, 'light'],
    [1440, 'dark'],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme });
    await card.waitFor();
    const sideways = () =>
      page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
    await eventually(sideways, `at ${width} px`).toBe(false);
    await tab.expectAccessible();
  }

  await eventually(() => card.getByTestId('approval-statement').innerText()).toContain('The service needs more room.');
  await eventually(() => card.getByTestId('approval-rule').innerText()).toContain(
    'A rule makes calls of every tool of every server wait for a person.',
  );
  await page.getByTestId('approval-approve').click();
  await page.getByTestId('approval-held').waitFor();
  expect((await stored(waiting(id))).length).toBe(1);
  await status(page, 'completed').waitFor();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  expect((await stored(callOf(server(), id, '1.1.1'))).content).toContain('scaled <b>web</b>');
  await eventually(() => page.getByTestId('waiting-approval').count()).toBe(0);
  const row = callRow(page, '1.1.1');
  await eventually(() => row.getByTestId('approval-chip').innerText()).toBe('approved');
  await eventually(() => card.getAttribute('data-status')).toBe('approved');
});

test('a new request is announced, and a rejection reaches every reader', async () => {
  const id = await server().submit('It is `slow`.');
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  await server().turnstile.reached('get_pods');
  await callRow(page, '1.1.1').waitFor();
  await status(page, 'in_progress').waitFor();
  expect(await readOnce(() => page.getByTestId('approval-announcement').innerText())).toBe('');
  server().turnstile.open('get_pods');
  await page.getByTestId('approval-reject').waitFor();
  await eventually(() => page.getByTestId('approval-announcement').textContent()).toBe(
    'Waiting for approval: cluster.scale',
  );
  await status(page, 'waiting').waitFor();
  const other = await visit(`/sessions/${id}`);
  await other.page.getByTestId('approval-approve').waitFor();

  // By keyboard only.
  await page.getByTestId('approval-reject').focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await eventually(() => page.evaluate(() => document.activeElement?.tagName)).toBe('TEXTAREA');
  await tab.expectAccessible();
  await page.keyboard.press('Escape');
  await eventually(() => page.getByRole('dialog').count()).toBe(0);
  await eventually(() => page.evaluate(() => document.activeElement?.getAttribute('data-testid'))).toBe(
    'approval-reject',
  );
  await page.keyboard.press('Enter');
  await page.getByTestId('reject-confirm').click();
  await page.getByText('Enter a reason.').waitFor();
  await page.getByLabel('Reason').fill('Not during the freeze.');
  await page.getByTestId('reject-confirm').click();

  for (const reader of [page, other.page]) {
    await status(reader, 'completed').waitFor();
    await eventually(() => reader.getByTestId('approval').getAttribute('data-status')).toBe('rejected');
    await eventually(() => reader.getByTestId('approval-reason').innerText()).toBe('Not during the freeze.');
    await eventually(() => reader.getByTestId('approval-approve').count()).toBe(0);
  }
  expect(await stored(callOf(server(), id, '1.1.2'))).toMatchObject({
    content: expect.stringContaining('Not during the freeze.'),
    metadata: { is_error: true, approval: { status: 'rejected' } },
  });
});

test('edited arguments are compared with the original and used for the call', async () => {
  const id = await asking();
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  await page.getByTestId('approval-edit').click();
  const field = page.getByLabel('Arguments', { exact: true }).and(page.locator('textarea'));
  await eventually(() => page.getByTestId('edit-confirm').isDisabled()).toBe(true);
  await field.fill('{"replicas": 3,}');
  await page.getByText(/Line 1, column 15: trailing comma/).waitFor();
  await field.fill('{"replicas": 98765432109876543210, "service": "shop"}');
  const changes = page.getByTestId('arguments-diff').locator('[data-kind=added]');
  await eventually(() => changes.allInnerTexts()).toEqual([
    expect.stringContaining('"replicas": 98765432109876543210'),
    expect.stringContaining('"service": "shop"'),
  ]);
  await tab.expectAccessible();
  await page.getByTestId('edit-confirm').click();
  await status(page, 'completed').waitFor();
  expect((await stored(callOf(server(), id, '1.1.1'))).content).toContain('scaled shop');

  const row = callRow(page, '1.1.1');
  if ((await row.getAttribute('data-open')) === 'false') await row.getByRole('button').first().click();
  await row.getByText('Approved with changes').waitFor();
  const shown = row.getByTestId('approval-arguments').locator('pre');
  await eventually(() => shown.count()).toBe(2);
  await eventually(async () => (await shown.allInnerTexts()).join()).toContain('12345678901234567890');
  await eventually(async () => (await shown.allInnerTexts()).join()).toContain('98765432109876543210');
});

test('a late decision shows a conflict and loads the current state', async () => {
  const id = await asking();
  const tab = await visit(`/sessions/${id}`);
  tab.tolerated.push(/409/);
  const { page } = tab;
  await page.getByTestId('approval-approve').waitFor();
  const [approval] = await waiting(id);
  await page.route('**/approve', async (route) => {
    await server().ask('POST', `/api/v1/approvals/${approval?.id}/reject`, { reason: 'I was faster.' });
    await route.continue();
  });
  await page.getByTestId('approval-approve').click();
  await page.getByTestId('approval-conflict').waitFor();
  await status(page, 'completed').waitFor();
  await eventually(() => page.getByTestId('approval').getAttribute('data-status')).toBe('rejected');
});

test('the list marks and filters sessions that need approval', async () => {
  const id = await asking();
  const tab = await visit('/');
  const { page } = tab;
  const row = page.locator(`[data-testid=session-row][data-session-id="${id}"]`);
  await row.getByTestId('needs-approval').waitFor();
  const rows = () => page.getByTestId('session-row').count();
  const all = await rows();
  await openFilters(page);
  await page.getByTestId('filter-approvals').click();
  await page.waitForURL(/approvals=waiting/);
  await eventually(rows).toBe(1);
  await eventually(() => page.getByTestId('filter-approvals').getAttribute('aria-pressed')).toBe('true');
  await tab.expectAccessible();

  const [approval] = await waiting(id);
  await server().ask('POST', `/api/v1/approvals/${approval?.id}/reject`, { reason: 'No.' });
  await page.getByText('No sessions match these filters').waitFor();
  await page.getByTestId('filter-approvals').click();
  await eventually(rows).toBe(all);

  // The palette has the same filter.
  await page.keyboard.press('Control+k');
  const palette = page.getByTestId('palette');
  await palette.waitFor();
  await page.keyboard.type('needs approval');
  await palette.getByRole('option', { name: 'Filter by approval: Needs approval' }).click();
  await page.waitForURL(/approvals=waiting/);
});
