/** The status in the top bar of every page: the health of the system, the rest of the budget, and the time zone. */
import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { sideways } from '../kit/look';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';

const { server, visit } = scenario({
  // The second server does not respond.
  config: `
agents:
  Investigator: {mcp_servers: [cluster, kubernetes-server]}
${plainChain.slice(plainChain.indexOf('agent_chains:'))}
`,
  system: 'budgets: {daily: {max_cost_usd: 50}}',
});

test('a degraded system has a badge on every page that links to the reason', async () => {
  const tab = await visit('/board');
  const { page } = tab;
  const mark = page.getByTestId('degraded');
  await mark.waitFor();
  await eventually(() => mark.innerText()).toBe('Degraded');
  await eventually(() => mark.getAttribute('aria-label')).toContain('kubernetes-server');
  await tab.expectAccessible();
  await mark.click();
  await page.getByTestId('system-warnings').waitFor();
  await eventually(() => page.getByTestId('system-warnings').innerText()).toContain('kubernetes-server');
});

test('the top bar shows the remaining budget, with the exact value in a tooltip', async () => {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const { page } = await visit('/');
  const budget = page.getByTestId('budget-left');
  await budget.waitFor();
  await eventually(() => budget.innerText()).toMatch(/^\$(49\.99|50\.00) left$/);
  await eventually(() => budget.getAttribute('title')).toMatch(/^\$0\.00\d+ of \$50\.00 spent since 00:00 UTC$/);
  await budget.click();
  await page.getByTestId('usage-total').waitFor();
});

test('times are shown in UTC on request, with the zone, even after a reload', async () => {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const tab = await visit(`/sessions/${id}`, { timezoneId: 'Asia/Tokyo' });
  const { page } = tab;
  const received = page.getByText(/^Received /).first();
  await received.waitFor();
  await eventually(() => received.innerText()).toMatch(/GMT\+9|JST/);
  const zone = page.getByTestId('zone-switch');
  await eventually(() => zone.getAttribute('aria-label')).toBe('Time zone: Asia/Tokyo');
  // By keyboard: a menu with two items.
  await zone.focus();
  await page.keyboard.press('Enter');
  await page.getByTestId('zone-utc').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.getByTestId('zone-utc').focus();
  await page.keyboard.press('Enter');
  await eventually(() => received.innerText()).toMatch(/\d\d:\d\d:\d\d UTC$/);
  await eventually(() => zone.innerText()).toBe('UTC');
  await page.reload();
  await eventually(() => received.innerText()).toMatch(/UTC$/);

  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type('times in local');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Escape');
  await eventually(() => zone.getAttribute('aria-label')).toBe('Time zone: Asia/Tokyo');
});

test('on a phone, More has the other pages, and controls have at least 44 px', async () => {
  const tab = await visit('/', { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true });
  const { page } = tab;
  await page.getByTestId('pages-more').waitFor();
  const small = () =>
    page.locator('header :is(a, button):visible, nav :is(a, button):visible').evaluateAll((all) =>
      all
        .map((control) => ({ name: control.textContent || control.ariaLabel, box: control.getBoundingClientRect() }))
        .filter(({ box }) => box.height > 0 && (box.height < 44 || box.width < 44))
        .map(({ name, box }) => `${name}: ${box.width}x${box.height}`),
    );
  await eventually(async () => (await small()).filter((line) => !line.startsWith('TARSy'))).toEqual([]);
  await tab.expectAccessible();
  await page.getByTestId('pages-more').tap();
  await page.getByRole('menuitem', { name: 'Quality' }).tap();
  await page.waitForURL(/\/quality/);
  await eventually(() => page.getByTestId('pages-more').innerText()).toContain('Quality');
});

test('a submission error is scrolled into view and focused', async () => {
  const tab = await visit('/submit', { viewport: { width: 1280, height: 600 } });
  const { page } = tab;
  await page.getByTestId('submit-default-tools').waitFor();
  await page.locator('textarea').first().fill('The pod web-1 crashes.');
  tab.tolerated = [/Failed to load resource/, /WebSocket/, /ERR_/];
  await server().crash();
  await page.keyboard.press('Control+Enter');
  const problem = page.getByTestId('submit-form').getByRole('alert');
  await problem.waitFor();
  const visible = () =>
    problem.evaluate((panel) => {
      const { top, bottom } = panel.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight && document.activeElement === panel;
    });
  await eventually(visible).toBe(true);
  await page.locator('main').evaluate((main) => main.scrollTo({ top: 0 }));
  await eventually(() => visible()).toBe(true);
  await server().restart();
});

test('the top bar fits a tablet with every mark and the longest name', async () => {
  const { page } = await visit('/system?tab=config', { viewport: { width: 768, height: 900 } });
  await page.getByTestId('degraded').waitFor();
  await page.getByTestId('theme-switch').waitFor();
  await eventually(() => page.getByTestId('pages-more').getAttribute('aria-current')).toBe('page');
  await eventually(() => sideways(page)).toEqual([]);

  await page.setViewportSize({ width: 1024, height: 900 });
  await page.getByTestId('budget-left').waitFor();
  await page.getByTestId('pages-system').waitFor();
  await eventually(() => sideways(page)).toEqual([]);
});
