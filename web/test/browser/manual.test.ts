/** The documents at /docs: their layout at every width, without scripts, and the ways to them. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario();

/** Tells whether the page scrolls sideways. */
function tooWide(page: Page): Promise<boolean> {
  return page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
}

test('the manual fits every width', async () => {
  const { page } = await visit('/docs');
  for (const address of ['/docs', '/docs/troubleshooting', '/docs/configuration', '/docs?q=lease', '/docs/dashboard']) {
    await page.goto(server().url + address);
    for (const width of [1440, 768, 390]) {
      await page.setViewportSize({ width, height: 800 });
      await eventually(() => page.locator('nav:visible').count(), `${address} at ${width} px`).toBe(
        width > 899 ? 1 : 0,
      );
      await eventually(() => tooWide(page), `${address} at ${width} px`).toBe(false);
    }
  }
});

test.each(['light', 'dark'] as const)('the manual is accessible in %s colours', async (colorScheme) => {
  const tab = await visit('/docs/troubleshooting', { colorScheme, viewport: { width: 390, height: 800 } });
  const { page } = tab;
  await tab.expectAccessible();
  await page.setViewportSize({ width: 1440, height: 800 });
  await page.goto(`${server().url}/docs?q=lease`);
  await tab.expectAccessible();
});

test('the manual is read and searched without scripts', async () => {
  const { page } = await visit('/docs', { javaScriptEnabled: false });
  await page.setViewportSize({ width: 390, height: 800 });
  await page.getByText('Contents', { exact: true }).click();
  await page.getByRole('navigation').getByRole('link', { name: 'Troubleshooting' }).click();
  await page.waitForURL('**/docs/troubleshooting');
  await page.getByRole('searchbox').fill('air-gapped NETWORKS');
  await page.getByRole('button', { name: 'Search' }).click();
  await page.waitForURL('**/docs?q=*');
  await page.getByRole('link', { name: 'Installation › Air-gapped networks' }).click();
  await page.waitForURL('**/docs/install#air-gapped-networks');
  await page.getByRole('heading', { name: 'Air-gapped networks' }).waitFor();
});

test('palette and help open the manual', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.getByTestId('pages-system').waitFor();
  await page.keyboard.press('?');
  const help = page.getByTestId('keyboard-help');
  await help.waitFor();
  const fromHelp = tab.context.waitForEvent('page');
  await help.getByRole('link', { name: 'Documentation' }).click();
  await (await fromHelp).getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });

  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type('manual');
  const fromPalette = tab.context.waitForEvent('page');
  await page.getByRole('option', { name: 'Documentation' }).click();
  const opened = await fromPalette;
  await opened.getByRole('heading', { level: 1, name: 'Documentation' }).waitFor();
  expect(new URL(opened.url()).pathname).toBe('/docs');
});
