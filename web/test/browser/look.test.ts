import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { everything, fill, places, type Sessions } from '../kit/everything';
import { scenario } from '../kit/scenario';

/** Every width is looked at in both themes; axe, which takes its time, sees each width once and each theme at two. */
const widths = [360, 768, 1440, 2560];
const themes = [
  { colorScheme: 'light', judged: [360, 1440] },
  { colorScheme: 'dark', judged: [768, 2560] },
] as const;

const { server, visit } = scenario(everything);
let sessions: Sessions = { done: '', running: '' };

beforeAll(async () => {
  sessions = await fill(server());
});

describe.each(themes)('in the $colorScheme', ({ colorScheme, judged }) => {
  test.each(places)('$name fits every width and axe finds nothing', async ({ address, ready }) => {
    const tab = await visit(address(sessions), { colorScheme, reducedMotion: 'reduce' });
    const { page } = tab;
    for (const width of widths) {
      await page.setViewportSize({ width, height: width < 768 ? 740 : 900 });
      await ready(page);
      expect(await sideways(page), `at ${width} px`).toEqual([]);
      if (judged.some((one) => one === width)) await tab.expectAccessible();
    }
    expect(await page.evaluate(() => document.documentElement.dataset.theme)).toBe(colorScheme);
    await expectStill(page);
  });
});

test('what moves does so only for those who want it', async () => {
  const { page } = await visit(`/sessions/${sessions.running}`);
  await page.getByTestId('now').waitFor();
  // Nothing would show that motion can be reduced if nothing moved.
  expect(await page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expectStill(page);
});

test('the theme is chosen, kept, and there before anything is drawn', async () => {
  const tab = await visit('/', { colorScheme: 'light' });
  const { page } = tab;
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  expect(await theme()).toBe('light');
  await page.getByTestId('theme-switch').click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  expect(await theme()).toBe('dark');

  // Every theme that the page is given while it loads, and whether there was anything to draw by then.
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() =>
      seen.push(`${document.documentElement.dataset.theme} ${document.body === null ? 'early' : 'late'}`),
    ).observe(document, { attributes: true, subtree: true, attributeFilter: ['data-theme'] });
  });
  await page.reload();
  await page.getByTestId('sessions-list').waitFor();
  expect(await page.evaluate(() => Reflect.get(window, 'seen') as string[])).toEqual(
    expect.arrayContaining(['dark early']),
  );
  expect(
    await page.evaluate(() => (Reflect.get(window, 'seen') as string[]).filter((one) => !one.startsWith('dark'))),
  ).toEqual([]);
  expect(await theme()).toBe('dark');

  // Other tabs follow, and "as the system" follows the system.
  const other = await tab.context.newPage();
  await other.goto(`${server().url}/system`);
  await other.getByTestId('theme-switch').click();
  await other.getByRole('menuitemradio', { name: 'As the system' }).click();
  await expect.poll(theme).toBe('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await expect.poll(theme).toBe('dark');
});

/** What makes the page wider than the window: nobody should have to scroll sideways to read. */
function sideways(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, document.querySelector('main')]
      .filter((element) => element !== null && element.scrollWidth > element.clientWidth)
      .map((element) => `${element?.tagName} has ${element?.scrollWidth} px in ${element?.clientWidth}`),
  );
}

async function expectStill(page: Page): Promise<void> {
  const moving = () =>
    page.evaluate(() =>
      document
        .getAnimations()
        .filter((animation) => animation.playState === 'running')
        .map((animation) => (animation.effect as KeyframeEffect | null)?.target?.outerHTML.slice(0, 200)),
    );
  await expect.poll(moving).toEqual([]);
}
