/** Changing the time zone changes the times on a page and nothing else. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';

const { server, visit } = scenario({ config: plainChain });
const tokyo = { timezoneId: 'Asia/Tokyo' };

/** Counts the texts and tooltips on the page that are a time in each zone. */
const timesOf = (page: Page) =>
  page.locator('main').evaluate((main) => {
    const elements = [...main.querySelectorAll('*')];
    const texts = elements
      .flatMap((element) => [...element.childNodes])
      .filter((node) => node.nodeType === Node.TEXT_NODE)
      .map((node) => node.nodeValue ?? '');
    const named = elements.flatMap((element) => [element.getAttribute('title'), element.ariaLabel ?? '']);
    const count = (zone: string) =>
      [...texts, ...named].filter((text) => new RegExp(String.raw`\d\d:\d\d:\d\d (${zone})`).test(text ?? '')).length;
    return { local: count(String.raw`GMT\+9|JST`), utc: count('UTC') };
  });

async function choose(page: Page, zone: 'utc' | 'local') {
  await page.getByTestId('zone-switch').click();
  await page.getByTestId(`zone-${zone}`).click();
}

/** Waits for the times on the page, chooses UTC, and expects all of them to change. */
async function expectAllChanged(page: Page, least: number) {
  await eventually(async () => (await timesOf(page)).local).toBeGreaterThanOrEqual(least);
  const before = await timesOf(page);
  expect(before.utc).toBe(0);
  await choose(page, 'utc');
  await eventually(() => timesOf(page)).toEqual({ local: 0, utc: before.local });
}

async function ended(): Promise<string> {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  return id;
}

test('a time zone change updates the times of a session and keeps a typed question', async () => {
  const id = await ended();
  const { page } = await visit(`/sessions/${id}`, tokyo);
  await page.getByTestId('chat-open').click();
  const question = page.getByTestId('chat-input');
  await question.fill('Why did the pod');
  const marked = await question.evaluateHandle((field) => field);
  // The tooltip and text of each timeline row, and when the alert was received.
  await expectAllChanged(page, 5);
  expect(await readOnce(() => question.inputValue())).toBe('Why did the pod');
  // It is the same element: restoring a draft into a new field would have lost the cursor.
  expect(await readOnce(() => question.evaluate((field, old) => field === old, marked))).toBe(true);
  await choose(page, 'local');
  await eventually(async () => (await timesOf(page)).utc).toBe(0);
  expect(await readOnce(() => question.inputValue())).toBe('Why did the pod');
});

test('a time zone change keeps a typed alert', async () => {
  const { page } = await visit('/submit', tokyo);
  const alert = page.locator('textarea').first();
  await alert.fill('The pod web-1 crashes.');
  await choose(page, 'utc');
  await eventually(() => page.getByTestId('zone-switch').innerText()).toBe('UTC');
  expect(await readOnce(() => alert.inputValue())).toBe('The pod web-1 crashes.');
});

test('a time zone change updates the times of the list and of its filter', async () => {
  await ended();
  const { page } = await visit('/?after=2026-07-04T03:05:00.000Z', tokyo);
  const after = page.getByTestId('filter-after');
  await eventually(() => after.inputValue()).toBe('2026-07-04T12:05');
  await expectAllChanged(page, 1);
  await eventually(() => after.inputValue()).toBe('2026-07-04T03:05');
  await eventually(() => after.getAttribute('title')).toBe('In UTC');
});

test('a time zone change updates a trace call and a comparison', async () => {
  const [id, other] = [await ended(), await ended()];
  const { page } = await visit(`/sessions/${id}/trace`, tokyo);
  await page
    .getByRole('treeitem', { name: /LLM call/ })
    .first()
    .click();
  await page.getByTestId('call-details').waitFor();
  await expectAllChanged(page, 2);
  await choose(page, 'local');
  await page.goto(`${server().url}/sessions/${id}/trace?compare=${other}`);
  await page.getByTestId('compared-session').first().waitFor();
  await expectAllChanged(page, 2);
});

test('a time zone change updates silences and keeps the moment of an entered end', async () => {
  const ends = new Date(Date.now() + 3_600_000).toISOString();
  await server().ask('POST', '/api/v1/silences', { matchers: ['team="a"'], reason: 'Planned work', ends_at: ends });
  const { page } = await visit('/alerts?tab=silences', tokyo);
  await expectAllChanged(page, 1);
  await choose(page, 'local');

  await page.getByTestId('add-silence').click();
  await page.getByTestId('silence-reason').fill('Load test');
  await page.getByTestId('silence-duration').selectOption('custom');
  const end = page.getByTestId('silence-end');
  await end.fill('2027-01-01T09:00');
  // The dialog covers the top bar, but another tab of this browser can change the zone.
  const second = await page.context().newPage();
  await second.goto(server().url);
  await choose(second, 'utc');
  await eventually(() => end.inputValue()).toBe('2027-01-01T00:00');
  await eventually(() => page.getByLabel('Ends at (UTC)').count()).toBe(1);
  await eventually(() => page.getByTestId('silence-reason').inputValue()).toBe('Load test');
  await second.close();
});
