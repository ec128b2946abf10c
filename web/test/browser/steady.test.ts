/**
 * Content that a page loads later already has its space reserved, so that a tap hits what the reader aimed at. If a
 * line appeared above it, the tap would be lost and seem to do nothing.
 */
import type { Page, Route } from 'playwright-core';
import { expect, test } from 'vitest';
import { verdictAnswer, verdictConfig, verdictScript } from '../kit/concluded';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({
  script: verdictScript(JSON.stringify(verdictAnswer)),
  config: verdictConfig,
  verdict: true,
});

/** The part of Chromium's entry that is read; the DOM types lack it. */
interface LayoutShift extends PerformanceEntry {
  sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[];
}

/** Records every element that moves vertically after the page load. */
function watchShifts(): void {
  const shifts: string[] = [];
  Object.assign(window, { shifts });
  new PerformanceObserver((list) => {
    for (const { sources } of list.getEntries() as LayoutShift[])
      for (const { node, previousRect: from, currentRect: to } of sources)
        if (Math.abs(from.y - to.y) >= 1)
          shifts.push(`${from.y} to ${to.y}: ${node instanceof Element ? node.outerHTML.slice(0, 160) : 'a text'}`);
  }).observe({ type: 'layout-shift', buffered: true });
}

/**
 * Opens the address and releases one API response at a time, each rendered before the next, until the named ones have
 * arrived.
 */
async function loadOneByOne(page: Page, address: string, names: readonly string[]): Promise<void> {
  const held: Route[] = [];
  const missing = new Set(names);
  await page.addInitScript(watchShifts);
  await page.route('**/api/v1/**', (route) => {
    held.push(route);
  });
  await page.goto(server().url + address);
  while (missing.size > 0 || held.length > 0) {
    await eventually(() => held.length, `a request for ${[...missing].join(', ')}`).toBeGreaterThan(0);
    for (const route of held.splice(0, 1)) {
      await route.fulfill({ response: await route.fetch() });
      missing.delete(new URL(route.request().url()).pathname.replace(/.*\//, ''));
    }
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  }
}

const shifts = (page: Page) => page.evaluate(() => (window as unknown as { shifts: string[] }).shifts);

test.for([
  { width: 360, height: 740 },
  { width: 768, height: 1024 },
  { width: 1440, height: 900 },
])('a session of $width px has no layout shifts when its parts load one by one', async (viewport) => {
  // Two with the same alert, so that the session has similar ones.
  for (let n = 0; n < 2; n++) await server().waitUntilEnded(await server().submit());
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const { page } = await visit('/', { viewport, hasTouch: viewport.width < 1000 });
  await loadOneByOne(page, `/sessions/${id}`, ['similar', 'handling', 'feedback', 'notes', 'entities', 'pauses']);
  await page.getByTestId('seen-before').waitFor({ state: 'attached' });
  expect(await readOnce(() => shifts(page))).toEqual([]);
});
