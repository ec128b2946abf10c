/** Measures how long a phone on slow 3G takes until a page is usable. It only prints results, without limits. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch } from '../kit/browser';
import { print } from '../kit/measure';
import { onPhone } from '../kit/phone';
import { plainScript, Server } from '../kit/server';
import { verdictRoute } from '../kit/verdict';

const script = plainScript.replace(
  'routes:',
  `routes:\n${verdictRoute('memory', { outcome: 'cause_found', cause: 'The pod web-1 ran out of memory.' })}`,
);

const stage = { browser: undefined as Browser | undefined };

beforeAll(async () => {
  stage.browser = await launch();
});

afterAll(() => stage.browser?.close());

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Succeeds once the app has taken over and one of its buttons responds. */
async function pageReacts(page: Page): Promise<void> {
  await page.getByTestId('palette-open').click();
}

test('a phone on slow 3G', async () => {
  const browser = stage.browser ?? expect.fail('the browser did not start');
  const server = await Server.start({ script, verdict: true });
  try {
    const ids: string[] = [];
    for (let n = 0; n < 50; n++) ids.push(await server.submit(`web-${n} is out of memory.`));
    await Promise.all(ids.map((id) => server.waitUntilEnded(id)));
    const pages = [
      { name: 'sessions', path: '/', first: 'first-row', whole: 'session-row' },
      { name: 'a session', path: `/sessions/${ids[0]}`, first: 'first-cause', whole: 'verdict-cause' },
    ];
    for (const { name, path, first, whole } of pages) {
      const seen = await onPhone(browser, server.url, path, (page) => page.getByTestId(first).first().waitFor());
      const bytes = [...seen.files.values()].reduce((sum, size) => sum + size, 0);
      print({
        what: `slow 3G, ${name}: first shown, links react (${seen.files.size} files, ${Math.round(bytes / 1000)} kB)`,
        got: seconds(seen.took),
        note: 'at most 3 s',
      });
      const all = await onPhone(browser, server.url, path, async (page) => {
        await page.getByTestId(whole).first().waitFor();
        await pageReacts(page);
      });
      const total = [...all.files.values()].reduce((sum, size) => sum + size, 0);
      print({
        what: `slow 3G, ${name}: all buttons react (${all.files.size} files, ${Math.round(total / 1000)} kB)`,
        got: seconds(all.took),
        note: '',
      });
      if (process.env.VERBOSE) process.stdout.write(`${JSON.stringify([...all.files], null, 1)}\n`);
    }
  } finally {
    await server.stop();
  }
});
