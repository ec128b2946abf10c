/** Results of tools: long logs, results cut by the server, metrics, and repeated identical calls. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { callOf, callRow, inSight, rowOf, timeline, timelineOf } from '../kit/timeline';

const log = Array.from({ length: 500 }, (_, n) => {
  const level = n % 100 === 50 ? 'ERROR' : n % 10 === 5 ? 'WARN' : 'INFO';
  return `14:${String(Math.floor(n / 60)).padStart(2, '0')}:${String(n % 60).padStart(2, '0')} ${level} web-1 request ${n} answered`;
});
const dump = Array.from({ length: 2_000 }, (_, n) => `object ${n}: ${'state of the cluster, '.repeat(2)}done`);
const from = Date.UTC(2026, 10, 16, 14) / 1000;
const range = {
  resultType: 'matrix',
  result: Array.from({ length: 12 }, (_, pod) => ({
    metric: { __name__: 'container_memory_usage_bytes', namespace: 'shop', pod: `web-${pod}` },
    values: Array.from({ length: 61 }, (_, n) => [from + n * 60, String(2e8 + pod * 1e7 + n * 1e6)]),
  })),
};
const pods = (count: number) => Array(count).fill('{name: cluster__get_pods, arguments: {namespace: shop}}').join(', ');
const json = JSON.stringify;
const tool = (name: string, text: string) => `      - name: ${name}
        read_only: true
        results:
          - text: |-
              ${text.replaceAll('\n', '\n              ')}`;

/** An agent reads a log, a dump and a metric, then makes the same call 40 times, the last 37 behind a gate. */
const script = `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies: [{tool_calls: [{name: cluster__get_log, arguments: {pod: web-1}}], times: forever}]
  - when: {agent: Investigator, turn: 1}
    replies: [{tool_calls: [{name: cluster__dump, arguments: {}}], times: forever}]
  - when: {agent: Investigator, turn: 2}
    replies: [{tool_calls: [{name: cluster__query_range, arguments: {query: memory}}], times: forever}]
  - when: {agent: Investigator, turn: 3}
    replies: [{tool_calls: [${pods(2)}], times: forever}]
  - when: {agent: Investigator, turn: 4}
    replies: [{tool_calls: [${pods(38)}], times: forever, gate: more}]
  - when: {agent: Investigator, turn: 5}
    replies: [{text: "Memory of web-3 grows [call 1.1.3]; the pods are as before [call 1.1.30].", times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Memory grows., times: forever}]
mcp_servers:
  cluster:
    tools:
${tool('get_log', log.join('\n'))}
${tool('dump', dump.join('\n'))}
${tool('query_range', json(range))}
${tool('get_pods', 'web-1 Running\nweb-2 Running')}
`;

const { server, visit } = scenario({
  script,
  mcpSettings: 'summarization: {enabled: false}',
  defaults: 'repeated_calls: {warn: 0, conclude: 0}',
});

let done: Promise<string> | undefined;
/** Returns a finished session, shared by all tests but one. */
function ended(): Promise<string> {
  done ??= (async () => {
    const id = await server().submit();
    await server().mock.reached('more');
    await server().mock.open('more');
    expect(await server().waitUntilEnded(id)).toBe('completed');
    return id;
  })();
  return done;
}

async function opened(page: Page, id: string, call: string): Promise<Locator> {
  const row = rowOf(page, (await callOf(server(), id, call)).id);
  await row.getByTestId('result').waitFor();
  return row.getByTestId('result');
}

async function openCall(id: string, call: string, context = {}) {
  const { id: event } = await callOf(server(), id, call);
  const tab = await visit(`/sessions/${id}?event=${event}`, context);
  return { tab, page: tab.page, result: await opened(tab.page, id, call) };
}

const group = (page: Page) => page.getByTestId('timeline-group');

test('identical calls become one row as they arrive, and a citation into it opens it', async () => {
  const id = await server().submit();
  await server().mock.reached('more');
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  await eventually(() => callRow(page, '1.1.5').count()).toBe(1);
  expect(await readOnce(() => group(page).count())).toBe(0);
  await server().mock.open('more');
  await eventually(() => group(page).getByTestId('group-count').innerText()).toContain('×40');
  await eventually(() => callRow(page, '1.1.30').count()).toBe(0);
  done = server()
    .waitUntilEnded(id)
    .then(() => id);
  expect(await server().waitUntilEnded(id)).toBe('completed');
  await eventually(() => group(page).innerText()).toContain('1.1.4–43');
  await eventually(() => group(page).innerText()).toContain('get_pods');

  await page.getByTestId('final-analysis').getByRole('link', { name: 'Tool call 1.1.30' }).click();
  await page.getByTestId('evidence-row').click();
  const cited = rowOf(page, (await callOf(server(), id, '1.1.30')).id);
  await eventually(() => cited.getAttribute('data-open')).toBe('true');
  await eventually(() => inSight(cited)).toBe(true);
  await eventually(() => cited.innerText()).toContain('web-2 Running');
  await tab.expectAccessible();

  // The row of the group collapses its calls again, by keyboard too.
  await page.keyboard.press('Home');
  const head = group(page).getByRole('button');
  await head.focus();
  await eventually(() => head.getAttribute('aria-expanded')).toBe('true');
  await page.keyboard.press('Enter');
  await eventually(() => cited.count()).toBe(0);
  await eventually(() => head.getAttribute('aria-expanded')).toBe('false');
});

test('the address of a call inside a group opens the group', async () => {
  const id = await ended();
  const { page, result } = await openCall(id, '1.1.42');
  await eventually(() => inSight(result)).toBe(true);
  await eventually(() => callRow(page, '1.1.41').count()).toBe(1);
  const calls = (await timelineOf(server(), id)).filter((event) => event.metadata?.tool_name === 'get_pods');
  expect(calls).toHaveLength(40);
});

test('a long log shows its numbered head and tail with levels, and all on request', async () => {
  const { tab, result } = await openCall(await ended(), '1.1.1');
  const rows = result.locator('[data-row]');
  await eventually(() => rows.count()).toBe(60);
  await eventually(() => rows.first().innerText()).toMatch(/^1\s+14:00:00 INFO/);
  await eventually(() => rows.last().innerText()).toMatch(/^500\s/);
  await result.getByText('440 lines hidden').waitFor();
  expect(await readOnce(() => result.getByTestId('result-cut').count())).toBe(0);
  const level = (at: number) => result.locator(`[data-row="${at}"]`).getAttribute('data-level');
  await eventually(async () => [await level(0), await level(5)]).toEqual(['info', 'warn']);
  await tab.expectAccessible();

  await result.getByRole('button', { name: 'Show all' }).click();
  await result.locator('[data-row="50"]').waitFor();
  await eventually(() => level(50)).toBe('error');
  const colour = (at: number) =>
    result.locator(`[data-row="${at}"] > span:last-child`).evaluate((node) => getComputedStyle(node).color);
  await eventually(async () => new Set([await colour(0), await colour(5), await colour(50)]).size).toBe(3);
});

test('a search counts, highlights and reveals its matches, even in hidden lines', async () => {
  const { tab, page, result } = await openCall(await ended(), '1.1.1');
  await result.getByRole('button', { name: 'Search in result' }).click();
  await page.keyboard.type('error');
  const count = result.getByTestId('result-matches');
  await eventually(() => count.innerText()).toBe('1 of 5');
  const current = result.locator('mark[data-current]');
  await eventually(() => current.innerText()).toBe('ERROR');
  await page.keyboard.press('Enter');
  await page.keyboard.press('Enter');
  await eventually(() => count.innerText()).toBe('3 of 5');
  await eventually(() => result.locator('[data-row="250"] mark[data-current]').count()).toBe(1);
  await eventually(() =>
    current.evaluate((node) => {
      const box = node.closest('[data-scroller]')?.getBoundingClientRect();
      const own = node.getBoundingClientRect();
      return box !== undefined && own.top >= box.top && own.bottom <= box.bottom;
    }),
  ).toBe(true);
  await tab.expectAccessible();
  await page.keyboard.press('Shift+Enter');
  await eventually(() => count.innerText()).toBe('2 of 5');
  await page.keyboard.press('Control+A');
  await page.keyboard.type('<img');
  await eventually(() => count.innerText()).toBe('No matches');
  await page.keyboard.press('Escape');
  await count.waitFor({ state: 'detached' });
});

test('line wrapping can be toggled, and the choice is kept', async () => {
  const id = await ended();
  const { page, result } = await openCall(id, '1.1.2', { viewport: { width: 360, height: 740 } });
  const wrap = result.getByRole('button', { name: 'Wrap lines' });
  const height = async () => (await result.locator('[data-row="0"]').boundingBox())?.height ?? 0;
  await eventually(() => wrap.getAttribute('aria-pressed')).toBe('true');
  await eventually(() => height()).toBeGreaterThan(20);
  await wrap.click();
  await eventually(height).toBeLessThan(20);
  await page.reload();
  await eventually(async () => (await opened(page, id, '1.1.2')).locator('[data-row="0"]').boundingBox()).toMatchObject(
    {
      height: 18,
    },
  );
  await eventually(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
});

test('a truncated result shows how much is missing', async () => {
  const { result } = await openCall(await ended(), '1.1.2');
  const whole = Math.ceil(new TextEncoder().encode(dump.join('\n')).length / 4);
  const missing = whole - 8_000;
  const thousands = (count: number) => `${(count / 1000).toFixed(1)}k`;
  await eventually(() => result.getByTestId('result-cut').innerText()).toBe(
    `cut: ${thousands(missing)} of ${thousands(whole)} tokens missing`,
  );
});

test('metrics are drawn in the chosen zone, with a table and the text on request', async () => {
  const { tab, page, result } = await openCall(await ended(), '1.1.3', { timezoneId: 'Europe/Berlin' });
  const chart = result.getByTestId('series-chart');
  await chart.locator('canvas').waitFor();
  await eventually(() => chart.getByRole('img').getAttribute('aria-label')).toContain('Line chart of 10 series');
  await eventually(() => chart.locator('figcaption').innerText()).toContain('15:00:00');
  await eventually(() => chart.getByRole('row').count()).toBe(11);
  await eventually(() => chart.getByRole('row').nth(1).innerText()).toMatch(/\{pod="web-0"\}\s+260M\s+200M\s+260M/);
  await chart.getByText('2 more series not drawn').waitFor();
  await tab.expectAccessible();
  const inked = () =>
    chart.locator('canvas').evaluate((node: HTMLCanvasElement) => {
      const { data } = node.getContext('2d')?.getImageData(0, 0, node.width, node.height) ?? { data: [] };
      return data.some((value) => value > 0);
    });
  await eventually(() => inked()).toBe(true);

  // The labels of the axis are part of the image.
  const picture = () => chart.locator('canvas').evaluate((node: HTMLCanvasElement) => node.toDataURL());
  const local = await picture();
  await page.getByTestId('zone-switch').click();
  await page.getByTestId('zone-utc').click();
  await eventually(() => chart.locator('figcaption').innerText()).toContain('14:00:00');
  await eventually(picture).not.toBe(local);

  await result.getByText('Text', { exact: true }).click();
  await result.locator('[data-row="1"]').waitFor();
  await eventually(() => result.locator('[data-row="1"]').innerText()).toContain('"resultType": "matrix"');
  await eventually(() => chart.count()).toBe(0);
});

test('a mebibyte of lines renders only a few of them', async () => {
  const id = await ended();
  const event = await callOf(server(), id, '1.1.1');
  const tab = await visit('/');
  const { page } = tab;
  await page.route(`**/timeline/${event.id}*`, async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { content: string };
    await route.fulfill({ response, json: { ...body, content: 'WARN <b>0123456789abcdef</b>\n'.repeat(37_000) } });
  });
  await page.goto(`${server().url}/sessions/${id}?event=${event.id}`);
  const result = await opened(page, id, '1.1.1');
  await eventually(() => result.locator('[data-row]').count()).toBe(60);
  expect(await readOnce(() => result.locator('b').count())).toBe(0);
  await result.getByRole('button', { name: 'Show all' }).click();
  await result.getByText('too long to show all of its lines').waitFor();
  expect(await readOnce(() => result.locator('[data-row]').count())).toBeLessThan(500);
  const box = result.locator('[data-scroller]');
  await box.evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await eventually(() => result.locator('[data-row="36999"]').count()).toBe(1);
  await result.getByRole('button', { name: 'Search in result' }).click();
  await page.keyboard.type('0123');
  await eventually(() => result.getByTestId('result-matches').innerText()).toBe('1 of 5,000+');
  await page.keyboard.press('Shift+Enter');
  await eventually(() => result.locator('[data-row="4999"] mark[data-current]').count()).toBe(1);
  expect(await readOnce(() => timeline(page).locator('[data-row]').count())).toBeLessThan(1_000);
});
