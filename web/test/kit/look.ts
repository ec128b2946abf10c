/** The tests of every page's look in one theme. Each theme has its own file, so that they run in parallel. */
import type { Page } from 'playwright-core';
import { beforeAll, test } from 'vitest';
import { everything, fill, places, type Sessions } from './everything';
import { eventually } from './expecting';
import { scenario } from './scenario';

/** Every width is tested in both themes; axe, which is slow, checks each width once and each theme at two widths. */
const widths = [360, 768, 1440, 2560];

/** Defines the tests of every page in a theme, with axe at the given widths; returns what further tests need. */
export function definePageTests(colorScheme: 'light' | 'dark', axeWidths: readonly number[]) {
  const { server, visit } = scenario(everything);
  const sessions: Sessions = { done: '', running: '', note: '', repeated: '', storm: '' };

  beforeAll(async () => {
    Object.assign(sessions, await fill(server()));
  });

  test.each(places)('$name fits every width and axe finds nothing', async ({ address, ready }) => {
    const tab = await visit(address(sessions), { colorScheme, reducedMotion: 'reduce' });
    const { page } = tab;
    for (const width of widths) {
      await page.setViewportSize({ width, height: width < 768 ? 740 : 900 });
      await ready(page);
      await eventually(() => sideways(page), `at ${width} px`).toEqual([]);
      if (axeWidths.includes(width)) await tab.expectAccessible();
    }
    await eventually(() => page.evaluate(() => document.documentElement.dataset.theme)).toBe(colorScheme);
    await expectNoAnimations(page);
  });

  return { server, visit, sessions };
}

/** Returns what makes the page wider than the window: reading must not need horizontal scrolling. */
export function sideways(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [document.documentElement, document.querySelector('main')]
      .filter((element) => element !== null && element.scrollWidth > element.clientWidth)
      .map((element) => `${element?.tagName} has ${element?.scrollWidth} px in ${element?.clientWidth}`),
  );
}

export async function expectNoAnimations(page: Page): Promise<void> {
  const moving = () =>
    page.evaluate(() =>
      document
        .getAnimations()
        .filter((animation) => animation.playState === 'running')
        .map((animation) => (animation.effect as KeyframeEffect | null)?.target?.outerHTML.slice(0, 200)),
    );
  await eventually(moving).toEqual([]);
}
