/** The session list: filters as chips, saved views, rows at a fixed height, columns, and actions on several sessions. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { deliver } from '../kit/alerts';
import { verdictAnswer, verdictConfig, verdictScript } from '../kit/concluded';
import { eventually, readOnce, stored } from '../kit/expecting';
import { openFilters } from '../kit/filters';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({
  script: verdictScript(
    JSON.stringify({ ...verdictAnswer, cause: `The cache of web-1 has no bound. ${'It grows. '.repeat(30)}` }),
  ),
  config: `${verdictConfig}alerts: {storm: {threshold: 0}}\n`,
  verdict: true,
});

const widths = [
  { width: 1440, height: 900 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
];

const ids: string[] = [];

beforeAll(async () => {
  for (let n = 0; n < 14; n++) {
    const labels = { alertname: `PodCrash${n}`, severity: n === 0 ? 'critical' : 'warning', service: 'checkout' };
    const [result] = await deliver(server(), { labels, annotations: { summary: `Pod web-${n} crashes` } });
    ids.push(result?.session_id ?? '');
  }
  for (const id of ids) expect(await server().waitUntilEnded(id)).toBe('completed');
  await deliver(server(), {
    labels: { alertname: 'PodCrash1', severity: 'warning', service: 'checkout' },
    resolved: true,
  });
});

const rows = (page: Page) => page.getByTestId('session-row');
const row = (page: Page, id: string | undefined) => page.locator(`[data-testid=session-row][data-session-id="${id}"]`);
const search = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);
const handlingOf = (id: string | undefined) =>
  server().ask<{ state: string; assignee: string; tags: string[] }>('GET', `/api/v1/sessions/${id}/handling`);

test.for(widths)('chosen filters are chips that can be removed at $width px', async (viewport) => {
  const tab = await visit('/', { viewport });
  const { page } = tab;
  await rows(page).first().waitFor();
  await eventually(() => page.getByTestId('filter-severity').isVisible()).toBe(false);
  await openFilters(page);
  await page.getByTestId('filter-severity').selectOption('critical');
  await page.getByTestId('filter-service').selectOption('checkout');
  await eventually(() => page.getByTestId('filter-toggle').innerText()).toContain('Filter (2)');
  await eventually(() => rows(page).count()).toBe(1);
  await page.getByTestId('filter-toggle').click();
  await eventually(() => page.getByTestId('filter-severity').isVisible()).toBe(false);
  await eventually(() => page.getByRole('list', { name: 'Chosen filters' }).innerText()).toMatch(
    /Severity: Critical\s+Service: checkout/,
  );
  await tab.expectAccessible();
  await page.getByRole('button', { name: 'Remove filter Severity: Critical' }).click();
  await eventually(() => search(page)).toEqual({ service: 'checkout' });
  await page.getByTestId('filter-clear').click();
  await eventually(() => search(page)).toEqual({});
  await eventually(() => page.getByRole('list', { name: 'Chosen filters' }).count()).toBe(0);
});

test('saved views are addresses, and the current one is marked', async () => {
  const tab = await visit('/?order=newest');
  const { page } = tab;
  const view = (name: string) => page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name });
  await view('Open critical').click();
  await eventually(() => search(page)).toEqual({ handling: 'open', severity: 'critical', order: 'newest' });
  await eventually(() => rows(page).count()).toBe(1);
  await eventually(() => view('Open critical').getAttribute('aria-current')).toBe('true');
  await page.reload();
  await row(page, ids[0]).waitFor();
  await eventually(() => view('Open critical').getAttribute('aria-current')).toBe('true');
  await view('Mine').click();
  await eventually(() => search(page)).toEqual({ handling: 'open,acknowledged', assignee: 'me', order: 'newest' });
  await view('This week').click();
  await eventually(() => search(page)).toEqual({ range: '7d', order: 'newest' });
  await eventually(() => view('Mine').getAttribute('aria-current')).toBe(null);
  await view('Needs a person').click();
  await page.getByText('No sessions match these filters').waitFor();
  await tab.expectAccessible();
  await view('Needs a person').click();
  await eventually(() => search(page)).toEqual({ order: 'newest' });
});

test('twelve rows with causes on two lines fit a window of 900 px', async () => {
  const { page } = await visit('/', { viewport: { width: 1440, height: 900 } });
  await rows(page).first().waitFor();
  const whole = () =>
    rows(page).evaluateAll((all) => all.filter((each) => each.getBoundingClientRect().bottom <= innerHeight).length);
  await eventually(whole).toBeGreaterThanOrEqual(12);
  const lines = () =>
    row(page, ids[0])
      .getByTestId('session-line')
      .evaluate((line) => line.getBoundingClientRect().height / Number.parseFloat(getComputedStyle(line).lineHeight));
  await eventually(lines).toBe(2);
  // A dot shows whether the alert still fires.
  await row(page, ids[0]).getByRole('img', { name: 'Firing' }).waitFor();
  await row(page, ids[1]).getByRole('img', { name: 'Alert resolved' }).waitFor();
});

test.for(widths)('columns are chosen and kept in this browser at $width px', async (viewport) => {
  const tab = await visit('/', { viewport });
  const { page } = tab;
  const text = () => row(page, ids.at(-1)).innerText();
  await row(page, ids.at(-1)).waitFor();
  await eventually(text).not.toContain('Cost');
  await page.getByTestId('columns').click();
  for (const column of ['stages', 'duration', 'cost', 'tokens', 'calls', 'author', 'chain'])
    await page.getByTestId(`column-${column}`).click();
  await page.keyboard.press('Escape');
  await eventually(text).toMatch(/Cost\s+<?\$/);
  await page.reload();
  await eventually(text).toMatch(/Cost\s+<?\$/);
  await tab.expectAccessible();
  const sideways = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  await eventually(sideways).toBeLessThanOrEqual(0);
  await page.evaluate(() => localStorage.clear());
});

test('no row moves when a banner or an action comes or goes', async () => {
  const { page } = await visit('/', { viewport: { width: 1440, height: 900 } });
  await row(page, ids[0]).waitFor();
  const top = () =>
    rows(page)
      .first()
      .evaluate((each) => each.getBoundingClientRect().top);
  const before = await top();
  await page.evaluate(() => {
    const shifts: number[] = [];
    Object.assign(window, { shifts });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) shifts.push((entry as PerformanceEntry & { value: number }).value);
    }).observe({ type: 'layout-shift' });
  });
  await page.keyboard.press('j');
  await page.keyboard.press('x');
  await page.getByTestId('bulk-bar').waitFor();
  await page.getByTestId('bulk-clear').click();
  await page.getByTestId('bulk-bar').waitFor({ state: 'detached' });
  expect(await readOnce(top)).toBe(before);
  expect(await readOnce(() => page.evaluate(() => (window as unknown as { shifts: number[] }).shifts))).toEqual([]);
});

test.for(widths)('several sessions are acknowledged, assigned, tagged and resolved at $width px', async (viewport) => {
  const tab = await visit('/', { viewport });
  const { page } = tab;
  const [one, two, other] = ids.toReversed();
  const select = (id: string | undefined) => page.locator(`[data-row="${id}"]`).getByTestId('select-row').check();
  const both = async () => {
    await select(one);
    await select(two);
    await eventually(() => page.getByTestId('bulk-count').innerText()).toBe('2 sessions selected');
  };
  const expectBoth = async (part: object) => {
    await page.getByTestId('bulk-bar').waitFor({ state: 'detached' });
    for (const id of [one, two]) expect(await stored(handlingOf(id))).toMatchObject(part);
  };
  await row(page, one).waitFor();
  await both();
  await tab.expectAccessible();
  await page.getByTestId('bulk-acknowledge').click();
  await expectBoth({ state: 'acknowledged' });
  await row(page, one).getByText('Acknowledged').waitFor();

  await both();
  await page.getByTestId('bulk-assign').click();
  await page.getByTestId('assign-name').fill('Ana');
  await page.getByTestId('assign-submit').click();
  await expectBoth({ assignee: 'Ana' });

  await both();
  await page.getByTestId('bulk-tag').click();
  await page.getByTestId('tag-name').fill(`at ${viewport.width}`);
  await page.getByTestId('tags-submit').click();
  await expectBoth({ tags: expect.arrayContaining([`at ${viewport.width}`]) });

  await both();
  await page.getByTestId('bulk-resolve').click();
  await page.getByTestId('resolve-submit').click();
  await expectBoth({ state: 'resolved' });
  expect(await stored(handlingOf(other))).toMatchObject({ state: 'open' });
  await server().ask('POST', '/api/v1/sessions/handling', {
    ids: [one, two],
    state: 'open',
    assignee: '',
    tags: { remove: [`at ${viewport.width}`] },
  });
});
