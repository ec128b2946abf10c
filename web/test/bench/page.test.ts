/** Measures the dashboard in a real Chromium against the real server. It only prints results, without limits. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bigBudget, bigScript } from '../kit/big';
import { launch } from '../kit/browser';
import { budgets, firstPage, weight } from '../kit/bundle';
import { framesOf, median, ms, print, watchKeys } from '../kit/measure';
import { plainScript, Server, type ServerOptions } from '../kit/server';
import { Tab } from '../kit/tab';

const kB = (bytes: number) => `${Math.round(bytes / 1000)} kB`;
const stage = { browser: undefined as Browser | undefined };

beforeAll(async () => {
  stage.browser = await launch();
  process.stdout.write(`\n${'what'.padEnd(62)} ${'measured'.padStart(10)}   aim\n`);
});

afterAll(() => stage.browser?.close());

function browser(): Browser {
  return stage.browser ?? expect.fail('the browser did not start');
}

/** Runs a measurement with its own server and tab, and fails if anything went wrong in the tab. */
async function withServer(options: ServerOptions, measure: (server: Server, tab: Tab) => Promise<void>): Promise<void> {
  const server = await Server.start(options);
  const tab = await Tab.open(browser(), server.url);
  try {
    await measure(server, tab);
    tab.expectNoErrors();
  } finally {
    await tab.close();
    await server.stop();
  }
}

test('the list of sessions', async () => {
  await withServer({ script: plainScript }, async (server, { page, context }) => {
    const files = firstPage() ?? expect.fail('web/dist is not built');
    for (const part of ['first', 'whole'] as const) {
      const { bytes, files: most } = budgets[part];
      const what = `${part} page: its ${files[part].size} files, compressed`;
      print({ what, got: kB(weight(files[part])), note: `at most ${most} files, ${kB(bytes)}` });
    }

    const ids: string[] = [];
    for (let n = 0; n < 200; n++) ids.push(await server.submit(`web-${n} is out of memory.`));
    await Promise.all(ids.map((id) => server.waitUntilEnded(id)));

    const network = await context.newCDPSession(page);
    await network.send('Network.enable');
    const sent = new Map<string, number>();
    const addresses = new Map<string, string>();
    network.on('Network.responseReceived', ({ requestId, response }) => addresses.set(requestId, response.url));
    network.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => sent.set(requestId, encodedDataLength));
    await page.addInitScript(() => {
      new MutationObserver((_, observer) => {
        if (document.querySelector('[data-testid=session-row]') === null) return;
        observer.disconnect();
        requestAnimationFrame(() => setTimeout(() => performance.mark('rows')));
      }).observe(document, { childList: true, subtree: true });
      new PerformanceObserver((list) => {
        for (const task of list.getEntries()) performance.mark('busy', { startTime: task.startTime + task.duration });
      }).observe({ type: 'longtask', buffered: true });
    });
    await page.goto(`${server.url}/?order=newest`, { waitUntil: 'networkidle' });
    const transferred = [...sent].reduce(
      (sum, [id, size]) => sum + (addresses.get(id)?.includes('/api/') ? 0 : size),
      0,
    );
    print({ what: 'first page: transferred, headers included', got: kB(transferred), note: '' });
    const usable = await page.evaluate(() => {
      const at = (name: string) => performance.getEntriesByName(name).at(-1)?.startTime ?? 0;
      return Math.max(at('rows'), at('busy'));
    });
    print({ what: 'sessions: navigation to rows that can be used', got: ms(usable), note: '' });

    await page.getByTestId('session-row').first().waitFor();
    await page.keyboard.press('j');
    for (const count of [100, 150, 200]) {
      await page.keyboard.press('End');
      await expect.poll(() => page.getByTestId('session-row').count(), { timeout: 30_000 }).toBe(count);
    }
    const keys = await watchKeys(page);
    await page.keyboard.press('Home');
    for (let n = 0; n < 60; n++) await page.keyboard.press('j');
    const took = await keys();
    print({
      what: 'sessions: j in a list of 200 rows to its drawing, longest of 60',
      got: took.length === 0 ? '< 16 ms' : ms(Math.max(...took)),
      note: `at most 100 ms; the middle ${took.length === 0 ? '< 16 ms' : ms(median(took))}`,
    });
  });
});

test('a session of ten thousand events', async () => {
  await withServer({ script: bigScript(10_000), system: bigBudget }, async (server, { page }) => {
    const id = await server.submit();
    expect(await server.waitUntilEnded(id)).toBe('completed');
    await page.addInitScript(() => {
      let most = 0;
      let drawn = false;
      const look = () => {
        const count = document.querySelectorAll('[data-testid=timeline-row]').length;
        most = Math.max(most, count);
        Object.assign(window, { most });
        if (count === 0 || drawn) return;
        drawn = true;
        // Runs in the task after the frame with the rows, when they are on screen.
        requestAnimationFrame(() => setTimeout(() => performance.mark('rows')));
      };
      new MutationObserver(look).observe(document, { childList: true, subtree: true });
    });
    await page.goto(`${server.url}/sessions/${id}`);
    await page.waitForFunction(() => performance.getEntriesByName('rows').length > 0);
    const first = await page.evaluate(() => {
      const rows = performance.getEntriesByName('rows')[0]?.startTime ?? 0;
      const answers = (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).filter(
        (entry) => entry.name.includes('/timeline') && entry.responseEnd < rows,
      );
      const arrived = Math.max(...answers.map((entry) => entry.responseEnd));
      return { after: rows - arrived, bytes: answers.reduce((sum, entry) => sum + entry.encodedBodySize, 0) };
    });
    print({
      what: `10,000 events: ${kB(first.bytes)} of timeline arrived, to its first rows`,
      got: ms(first.after),
      note: 'at most 1000 ms',
    });

    const scroller = page.getByTestId('timeline-scroller');
    await scroller.waitFor();
    const frames = await framesOf(browser(), page, () =>
      scroller.evaluate(
        (list) =>
          new Promise<void>((resolve) => {
            list.scrollTop = 0;
            let still = 0;
            const on = () => {
              const before = list.scrollTop;
              list.scrollTop += 600;
              still = list.scrollTop === before ? still + 1 : 0;
              if (still > 10) resolve();
              else requestAnimationFrame(on);
            };
            requestAnimationFrame(on);
          }),
      ),
    );
    print({
      what: `10,000 events: longest of ${frames.count} frames of a scroll through all`,
      got: ms(frames.longest),
      note: `at most 100 ms; longest task ${ms(frames.longestTask)}`,
    });
    const most = await page.evaluate(() => Reflect.get(window, 'most') as number);
    print({ what: '10,000 events: most rows in the document', got: String(most), note: 'at most 500' });
  });
});

/** Four agents that stream at the same time, fifty words per second each. */
const lanes: ServerOptions = {
  script: `
version: 1
routes:
  - when: {agent: Investigator}
    replies: [{text: ${JSON.stringify('word '.repeat(4000))}, gate: go, profile: {tps: 50}, times: forever}]
mcp_servers: {cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}}
`,
  config: `
agents: {Investigator: {mcp_servers: [cluster]}}
agent_chains:
  four:
    description: Four agents at once.
    alert_types: [pod-crash]
    stages:
      - {name: investigation, agents: [{name: Investigator}, {name: Investigator}, {name: Investigator}, {name: Investigator}]}
    chat: {enabled: true}
`,
};

test('typing while four agents stream', async () => {
  await withServer(lanes, async (server, { page }) => {
    let deltas = 0;
    page.on('websocket', (socket) => {
      socket.on('framereceived', ({ payload }) => {
        deltas += String(payload).split('"stream.chunk"').length - 1;
      });
    });
    const id = await server.submit();
    await page.goto(`${server.url}/sessions/${id}`);
    // A question can be typed while the investigation runs; sending it has to wait for the end.
    await page.getByTestId('chat-open').click();
    const field = page.getByTestId('chat-input');
    await field.click();
    await server.mock.reached('go');
    await server.mock.open('go');
    await expect.poll(() => deltas, { timeout: 30_000 }).toBeGreaterThan(200);

    const keys = await watchKeys(page);
    const text = 'Is the cache of checkout bounded, and since when has it grown so much?';
    const before = { deltas, at: performance.now() };
    await page.keyboard.type(text, { delay: 100 });
    const seconds = (performance.now() - before.at) / 1000;
    const rate = Math.round((deltas - before.deltas) / seconds);
    expect(await field.inputValue()).toBe(text);
    const took = await keys();
    print({
      what: `chat: key to drawing, ${text.length} keys, models write 200 deltas/s (${rate} reach us)`,
      got: took.length === 0 ? '< 16 ms' : ms(Math.max(...took)),
      note: `at most 100 ms; the middle ${took.length === 0 ? '< 16 ms' : ms(median(took))}`,
    });
    await server.ask('POST', `/api/v1/sessions/${id}/cancel`);
    await server.waitUntilEnded(id);
  });
});
