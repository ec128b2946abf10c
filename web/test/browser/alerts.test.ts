import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { deliver, podAlerts, type SentAlert } from '../kit/alerts';
import { eventually } from '../kit/expecting';
import { openFilters } from '../kit/filters';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';

const { server, visit } = scenario({ config: `${plainChain}alerts: {storm: {threshold: 2}}\n` });

const row = (page: Page, id: string) => page.locator(`li:has([data-session-id="${id}"])`);

/** Returns how many times the alert card lists; those of the same second share a line. */
async function timesIn(page: Page): Promise<number> {
  const lines = await page.getByTestId('alert-times').locator('li').allInnerTexts();
  return lines.reduce((sum, line) => sum + Number(line.match(/\((\d+) times\)/)?.[1] ?? 1), 0);
}

/** Delivers an alert that is investigated, and waits for the end of its session. */
async function investigated(alert: SentAlert): Promise<string> {
  const [result] = await deliver(server(), alert);
  const id = result?.session_id ?? '';
  expect(result?.action).toBe('investigate');
  await server().waitUntilEnded(id);
  return id;
}

const checkout: SentAlert = {
  labels: {
    alertname: 'CheckoutDown',
    namespace: 'payments',
    cluster: 'prod-eu',
    service: 'checkout',
    team: 'money',
    severity: 'critical',
    tier: 'a,b',
  },
  annotations: {
    summary: 'Nobody can pay since the last release',
    runbook_url: 'https://runbooks.example/checkout',
  },
};

test('a received alert shows title, severity, facts, links and labels', async () => {
  const id = await investigated(checkout);
  const other = await investigated({ labels: { alertname: 'Quiet', severity: 'info' } });

  const tab = await visit('/');
  const { page } = tab;
  const text = () => row(page, id).innerText();
  for (const part of ['Critical', 'Nobody can pay', 'checkout', 'payments', 'prod-eu', 'money'])
    await eventually(text).toContain(part);
  await tab.expectAccessible();

  await openFilters(page);
  await page.getByTestId('filter-severity').selectOption('critical');
  await row(page, other).waitFor({ state: 'detached' });
  for (const [fact, value] of Object.entries({
    service: 'checkout',
    namespace: 'payments',
    cluster: 'prod-eu',
    team: 'money',
  })) {
    await page.getByTestId(`filter-${fact}`).selectOption(value);
    await page.waitForURL((url) => url.searchParams.get(fact) === value);
  }
  await page.getByTestId('filter-label').fill('nonsense');
  await page.keyboard.press('Enter');
  await page.getByText('Type name=value, then Enter').waitFor();
  await page.getByTestId('filter-label').fill('tier = a,b');
  await page.keyboard.press('Enter');
  await page.getByTestId('filter-chip-label').getByText('tier=a,b').waitFor();
  await row(page, id).waitFor();
  await page.reload();
  await page.getByTestId('filter-chip-label').getByText('tier=a,b').waitFor();
  await row(page, id).waitFor();
  await eventually(() => page.getByTestId('filter-service').inputValue()).toBe('checkout');
  await eventually(() => page.getByTestId('filter-team').inputValue()).toBe('money');
  await openFilters(page);
  await page.getByTestId('filter-label').fill('tier=c');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: 'No sessions match these filters' }).waitFor();

  await page.goto(`${server().url}/sessions/${id}`);
  await page.getByRole('heading', { level: 1, name: 'Nobody can pay since the last release' }).waitFor();
  await eventually(() => page.title()).toContain('Nobody can pay');
  const links = page.getByTestId('alert-links').getByRole('link');
  await eventually(() => links.allInnerTexts()).toEqual(expect.arrayContaining(['Source', 'Runbook']));
  for (const link of await links.all()) await eventually(() => link.getAttribute('rel')).toContain('noreferrer');
  await page.getByRole('button', { name: /^Labels/ }).click();
  await page.getByTestId('alert-labels').getByRole('link', { name: 'team=money' }).click();
  await page.waitForURL((url) => url.searchParams.get('label') === 'team=money');
  await row(page, id).waitFor();
  await page.goBack();
  await page.getByRole('button', { name: /^Details/ }).click();
  await page.getByTestId('alert-fingerprint').click();
  await page.waitForURL((url) => url.searchParams.has('fingerprint'));
  await row(page, other).waitFor({ state: 'detached' });
  await row(page, id).waitFor();
  await page.getByTestId('filter-chip-fingerprint').click();
  await row(page, other).waitFor();
  await eventually(() => new URL(page.url()).search).toBe('');

  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type('Nobody can pay');
  const option = page.getByRole('option', { name: /Nobody can pay since the last release/ });
  await option.waitFor();
  await eventually(() => option.innerText()).toContain('Critical · checkout');
});

test('repetitions and the resolution of an alert update live on both pages', async () => {
  const alert: SentAlert = {
    labels: { alertname: 'DiskFull', severity: 'high' },
    annotations: { summary: 'db-0 is full' },
  };
  const id = await investigated(alert);
  const list = await visit('/');
  const detail = await visit(`/sessions/${id}`);
  await row(list.page, id).waitFor();
  await detail.page.getByTestId('session-alert').getByText('High').waitFor();

  await deliver(server(), alert);
  await deliver(server(), alert);
  await row(list.page, id)
    .getByText(/^×3, last/)
    .waitFor();
  await detail.page
    .getByTestId('session-alert')
    .getByText(/^×3, last/)
    .waitFor();
  await detail.page.getByRole('button', { name: 'Firing, received 3 times' }).click();
  await eventually(() => timesIn(detail.page)).toBe(3);

  await deliver(server(), { ...alert, resolved: true });
  await row(list.page, id).getByTestId('alert-resolved').waitFor();
  await detail.page.getByTestId('session-header').getByTestId('alert-resolved').waitFor();
  for (let n = 0; n < 3; n++) {
    await deliver(server(), alert);
    await deliver(server(), { ...alert, resolved: true });
  }
  await row(list.page, id).getByTestId('alert-flapping').waitFor();
  await detail.page.getByTestId('session-header').getByTestId('alert-flapping').waitFor();
  await detail.expectAccessible();
});

test('a storm is one row that expands to members that can be investigated', async () => {
  const results = await deliver(server(), ...podAlerts('PodCrash', 6));
  const storm = results.find((result) => result.action === 'storm')?.session_id ?? '';
  expect(storm).not.toBe('');
  await server().waitUntilEnded(storm);
  const tab = await visit('/');
  const { page } = tab;
  const one = row(page, storm);
  await one.getByTestId('alert-storm').waitFor();
  const toggle = one.getByTestId('storm-toggle');
  const { alert } = await server().ask<{ alert: { members: number } }>('GET', `/api/v1/sessions/${storm}`);
  await eventually(() => toggle.innerText()).toContain(`${alert.members} alerts in this storm`);
  await toggle.focus();
  await page.keyboard.press('Enter');
  const members = one.getByTestId('suppressed-alert');
  await eventually(() => members.count()).toBe(alert.members);
  await tab.expectAccessible();

  // Later members are counted while the page is open.
  await deliver(server(), ...podAlerts('PodCrash', 2, 7));
  await eventually(() => members.count()).toBe(alert.members + 2);
  await eventually(() => toggle.innerText()).toContain(`${alert.members + 2} alerts in this storm`);

  await page.goto(`${server().url}/sessions/${storm}`);
  const badge = page.getByTestId('session-header').getByTestId('alert-storm');
  await badge.getByText(`Storm of ${alert.members + 2}`).waitFor();
  await deliver(server(), ...podAlerts('PodCrash', 1, 9));
  await badge.getByText(`Storm of ${alert.members + 3}`).waitFor();
  const member = page.getByTestId('suppressed-alert').filter({ hasText: 'on web-8' });
  await member.getByTestId('investigate').click();
  await page.getByRole('heading', { level: 1, name: 'PodCrash on web-8' }).waitFor();
  const earlier = page.getByTestId('earlier-session');
  await earlier.click();
  await page.waitForURL(new RegExp(storm));
  await member.getByTestId('open-investigation').waitFor();
});

test('suppressed alerts are listed with their reason, filtered, and investigated with one click', async () => {
  const alert: SentAlert = {
    labels: { alertname: 'Latency', severity: 'warning' },
    annotations: { summary: 'The shop is slow' },
  };
  const id = await investigated(alert);
  const tab = await visit('/');
  const { page } = tab;
  await page.getByTestId('sessions-list').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('a');
  await page.getByRole('heading', { level: 1, name: 'Not investigated' }).waitFor();
  await deliver(server(), alert);
  const entry = page.getByTestId('suppressed-alert').filter({ hasText: 'The shop is slow' });
  await entry.waitFor();
  await eventually(() => entry.innerText()).toContain('Repeated');
  await tab.expectAccessible();

  await page.getByTestId('suppressed-reason').selectOption('silence');
  await entry.waitFor({ state: 'detached' });
  await page.getByTestId('suppressed-reason').selectOption('duplicate');
  await page.getByTestId('suppressed-search').fill('slow');
  await page.waitForURL(/reason=duplicate&q=slow/);
  await entry.getByTestId('counting-session').click();
  await page.waitForURL(new RegExp(id));
  await page.goBack();
  await entry.getByTestId('investigate').click();
  await page.waitForURL((url) => url.pathname.startsWith('/sessions/') && !url.pathname.includes(id));
  await page.getByRole('heading', { level: 1, name: 'The shop is slow' }).waitFor();
  await page.goBack();
  await entry.getByTestId('open-investigation').waitFor();
});

test('an alert is silenced from its session, listed, and the silence is ended', async () => {
  const alert: SentAlert = {
    labels: { alertname: 'Backup', severity: 'info', job: 'say "hi"' },
    annotations: { summary: 'The backup is late' },
  };
  const id = await investigated(alert);
  const tab = await visit(`/sessions/${id}`);
  tab.tolerated = [/400/];
  const { page } = tab;
  await page.getByTestId('silence-session').click();
  const matchers = page.getByTestId('silence-matchers');
  await eventually(() => matchers.inputValue()).toBe('alertname="Backup"\njob="say \\"hi\\""\nseverity="info"');
  await tab.expectAccessible();
  await matchers.fill('alertname=~"["');
  await page.getByTestId('silence-reason').fill('Planned work on the storage');
  await page.getByTestId('silence-duration').selectOption('8h');
  await page.getByTestId('silence-add').click();
  await page.getByRole('alert').filter({ hasText: 'regular expression' }).waitFor();
  await matchers.fill('alertname="Backup"\nseverity!="critical"');
  await page.getByTestId('silence-add').click();

  const silence = page.getByTestId('silence').filter({ hasText: 'Planned work on the storage' });
  await silence.waitFor();
  await eventually(() => silence.getAttribute('data-state')).toBe('active');
  await eventually(() => silence.innerText()).toMatch(/until \d[\s\S]*by api-client/);
  await tab.expectAccessible();
  const [result] = await deliver(server(), { ...alert, labels: { ...alert.labels, job: 'other' } });
  expect(result?.action).toBe('silence');
  await page.getByTestId('alerts-tab-suppressed').click();
  const entry = page.getByTestId('suppressed-alert').filter({ hasText: 'Silenced' });
  await entry.getByTestId('silence-link').click();
  await silence.and(page.locator('[aria-current]')).waitFor();

  await silence.getByTestId('end-silence').click();
  await page.getByTestId('confirm').click();
  await silence.and(page.locator('[data-state=ended]')).waitFor();
  await page.getByTestId('silences-all').uncheck();
  await page.getByRole('heading', { name: 'No silences' }).waitFor();
});

test('a silence until a date is added and ended on the Alerts page', async () => {
  const tab = await visit('/alerts?tab=silences', { timezoneId: 'UTC' });
  const { page } = tab;
  tab.tolerated = [/400/];
  await page.getByTestId('add-silence').click();
  await page.getByTestId('silence-matchers').fill('namespace="staging"');
  await page.getByTestId('silence-reason').fill('Load test');
  await page.getByTestId('silence-duration').selectOption('custom');
  await tab.expectAccessible();
  const end = page.getByTestId('silence-end');
  await end.fill('2999-01-01T00:00');
  await page.getByTestId('silence-add').click();
  await page.getByRole('alert').filter({ hasText: 'a year at most' }).waitFor();
  // The field has minutes but no seconds.
  const at = new Date(Math.ceil(Date.now() / 60_000) * 60_000 + 3 * 86_400_000);
  await end.fill(at.toISOString().slice(0, 16));
  await page.getByTestId('silence-add').click();

  const silence = page.getByTestId('silence').filter({ hasText: 'Load test' });
  await silence.waitFor();
  const { silences } = await server().ask<{ silences: { ends_at: string; author: string; reason: string }[] }>(
    'GET',
    '/api/v1/silences',
  );
  const stored = silences.find(({ reason }) => reason === 'Load test');
  expect(new Date(stored?.ends_at ?? '')).toEqual(at);
  await eventually(() => silence.innerText()).toContain(`by ${stored?.author}`);
  await silence.getByTestId('end-silence').click();
  await page.getByTestId('confirm').click();
  await silence.waitFor({ state: 'detached' });
  await page.getByTestId('silences-all').check();
  await eventually(() => silence.getAttribute('data-state')).toBe('ended');
  await eventually(() => silence.innerText()).toContain('ended by api-client');
});
