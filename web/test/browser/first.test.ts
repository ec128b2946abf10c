/** The first view, shown before the app has loaded, and how little it has to load. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { sharedBrowser } from '../kit/browser';
import { eventually } from '../kit/expecting';
import { onPhone } from '../kit/phone';
import { plainScript, Server } from '../kit/server';
import { Tab } from '../kit/tab';
import { verdictRoute } from '../kit/verdict';

const cause = 'The pod web-1 ran out of memory.';
const script = plainScript.replace(
  'routes:',
  `routes:\n${verdictRoute('memory', { outcome: 'cause_found', cause: `${cause} \u202e[call 1.1.1]` })}`,
);

/** Scripts that the first view does not need. */
const program = /\/assets\/(?!first-|theme-)[^/]+\.js$/;

/** Holds back the app's scripts until released. */
async function holdProgram(page: Page): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(program, async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

async function withSessions(check: (server: Server, ids: string[]) => Promise<void>): Promise<void> {
  const server = await Server.start({ script, verdict: true });
  try {
    const ids: string[] = [];
    for (let n = 0; n < 20; n++) ids.push(await server.submit(`web-${n} is out of memory.`));
    await Promise.all(ids.map((id) => server.waitUntilEnded(id)));
    await check(server, ids);
  } finally {
    await server.stop();
  }
}

test('list and verdict render before the app loads, which reuses their responses', async () => {
  await withSessions(async (server) => {
    const tab = await Tab.open(await sharedBrowser(), server.url, { viewport: { width: 390, height: 844 } });
    const { page } = tab;
    const asked: string[] = [];
    page.on('request', (request) => asked.push(request.url().slice(server.url.length)));
    const release = await holdProgram(page);
    await page.goto(server.url);
    const rows = page.getByTestId('first-row');
    await rows.first().waitFor();
    await eventually(() => rows.count()).toBe(12);
    await eventually(() => rows.first().textContent()).toContain(cause);
    await tab.expectAccessible();

    // A link responds immediately.
    const href = await rows.first().getAttribute('href');
    await rows.first().click();
    await page.getByTestId('first-cause').waitFor();
    await eventually(() => page.getByTestId('first-cause').textContent()).toBe(`${cause} \\u202e`);
    await eventually(() => new URL(page.url()).pathname).toBe(href);
    await page.getByRole('button', { name: 'Copy command of step 1' }).waitFor();
    await tab.expectAccessible();

    release();
    await page.getByTestId('verdict-cause').waitFor();
    await eventually(() => page.getByTestId('first-session').count()).toBe(0);
    const times = (path: string) => asked.filter((each) => each === path).length;
    expect(times('/api/v1/me')).toBe(1);
    expect(times('/api/v1/sessions?order=attention&limit=50')).toBe(1);
    expect(times(`/api/v1${href}`)).toBe(1);
    expect(times(`/api/v1${href}/timeline?preview=400&limit=5000`)).toBe(1);
    // Back leads to the list, which the app now renders.
    await page.goBack();
    await page.getByTestId('session-row').first().waitFor();
    tab.expectNoErrors();
    await tab.close();
  });
});

test('the list reuses the response that was requested in advance', async () => {
  await withSessions(async (server) => {
    const tab = await Tab.open(await sharedBrowser(), server.url);
    const asked: string[] = [];
    // The feed requests the list again once it is connected; here it never connects.
    await tab.page.routeWebSocket(/\/api\/v1\/ws/, () => {});
    tab.page.on('request', (request) => asked.push(request.url().slice(server.url.length)));
    await tab.page.goto(server.url);
    await tab.page.getByTestId('session-row').first().waitFor();
    expect(asked.filter((path) => path === '/api/v1/sessions?order=attention&limit=50')).toHaveLength(1);
    tab.expectNoErrors();
    await tab.close();
  });
});

test('a phone shows the list and a verdict within the file and byte budget', async () => {
  await withSessions(async (server, ids) => {
    for (const [path, testId] of [
      ['/', 'first-row'],
      [`/sessions/${ids[0]}`, 'first-cause'],
    ] as const) {
      const connection = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 };
      const { files } = await onPhone(
        await sharedBrowser(),
        server.url,
        path,
        async (page) => {
          await holdProgram(page);
          await page.reload();
          await page.getByTestId(testId).first().waitFor();
        },
        connection,
      );
      const first = [...files].filter(([name]) => !program.test(name) && name !== '/favicon.svg');
      const bytes = first.reduce((sum, [, size]) => sum + size, 0);
      const listed = first.map(([name, size]) => `${name} ${size}`).join(', ');
      expect(first.length, listed).toBeLessThanOrEqual(7);
      // Half a second at 400 kbit/s.
      expect(bytes, listed).toBeLessThan(25_000);
    }
  });
});
