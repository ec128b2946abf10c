/**
 * Measures the longest frame of a session with six stages of eight agents on a wide screen. It only prints results,
 * without limits.
 */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { crowd } from '../kit/big';
import { launch } from '../kit/browser';
import { framesOf, ms, print } from '../kit/measure';
import { Server } from '../kit/server';
import { Tab } from '../kit/tab';

const stage = { browser: undefined as Browser | undefined };

beforeAll(async () => {
  stage.browser = await launch();
});

afterAll(() => stage.browser?.close());

test('six stages of eight agents at 2,560 px', async () => {
  const browser = stage.browser ?? expect.fail('the browser did not start');
  const server = await Server.start(crowd);
  const tab = await Tab.open(browser, server.url, { viewport: { width: 2560, height: 1440 } });
  try {
    const { page } = tab;
    const id = await server.submit();
    await server.mock.reached('go');
    await page.goto(`${server.url}/sessions/${id}`);
    await page.getByTestId('pane').nth(7).waitFor();
    const live = await framesOf(browser, page, async () => {
      await server.mock.open('go');
      expect(await server.waitUntilEnded(id)).toBe('completed');
      await page.getByTestId('outcome').waitFor();
    });
    print({
      what: `48 agents: longest of ${live.count} frames while eight write`,
      got: ms(live.longestTask),
      note: `at most 100 ms; between frames ${ms(live.longest)}`,
    });
    const done = await framesOf(browser, page, async () => {
      await page.goto(`${server.url}/sessions/${id}`);
      await page.getByTestId('pane').first().waitFor();
      await page.waitForLoadState('networkidle');
    });
    print({
      what: `48 agents: longest of ${done.count} frames of opening it when done`,
      got: ms(done.longestTask),
      note: `at most 100 ms; between frames ${ms(done.longest)}`,
    });
    tab.expectNoErrors();
  } finally {
    await tab.close();
    await server.stop();
  }
});
