/** Screenshots of each page for the documentation, taken from the demo. `make screenshots` writes docs/images. */
import { mkdirSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { launch } from '../kit/browser';
import { Demo } from '../kit/demo';
import { Tab } from '../kit/tab';

const images = process.env.TARSY_IMAGES ?? path.resolve(import.meta.dirname, '../../../docs/images');
/** The largest size of an image in bytes: people load a README with all of them. */
const heaviest = 250_000;
const patience = { timeout: 120_000, interval: 50 };

const stage = {
  url: '',
  demo: undefined as Demo | undefined,
  browser: undefined as Browser | undefined,
  /** The alert that three parallel agents investigate. */
  parallel: '',
};

beforeAll(async () => {
  mkdirSync(images, { recursive: true });
  [stage.demo, stage.browser] = await Promise.all([Demo.start(1.5), launch()]);
  stage.url = stage.demo.url;
});

afterAll(async () => {
  await stage.browser?.close();
  await stage.demo?.stop();
});

async function open(address: string, context: BrowserContextOptions = {}, origin = stage.url): Promise<Page> {
  if (stage.browser === undefined) throw new Error('the browser did not start');
  const { page, context: tab } = await Tab.open(stage.browser, origin, {
    colorScheme: 'light',
    reducedMotion: 'reduce',
    ...context,
  });
  // Headless Chromium denies notifications, while a desktop browser asks.
  await tab.addInitScript(() => Object.defineProperty(Notification, 'permission', { get: () => 'default' }));
  await page.goto(origin + address);
  return page;
}

async function shoot(page: Page, name: string): Promise<void> {
  const file = path.join(images, `${name}.png`);
  // The menus in the header load last.
  await page.getByTestId('theme-switch').waitFor();
  await page.evaluate(() => document.fonts.ready);
  await page.screenshot({ path: file });
  expect(statSync(file).size, name).toBeLessThan(heaviest);
}

test('sessions', async () => {
  const page = await open('/');
  const over = page.locator('[data-testid=session-row]:is([data-status=completed], [data-status=failed])');
  await expect.poll(() => over.count(), patience).toBe(9);
  const example = page.getByTestId('session-row').filter({ hasText: 'p99 latency of catalog-search' });
  stage.parallel = (await example.getAttribute('data-session-id')) ?? '';
  // Two running sessions, for a typical list.
  const other = page.getByTestId('session-row').filter({ hasText: 'checkout keeps being OOM-killed' });
  for (const id of [stage.parallel, await other.getAttribute('data-session-id')])
    await fetch(`${stage.url}/api/v1/sessions/${id}/rerun`, { method: 'POST' });
  const running = page.locator('[data-testid=session-row][data-status=in_progress]');
  await expect.poll(() => running.count(), patience).toBe(2);
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, 'sessions-dark');
});

test('session, while it runs', async () => {
  const answer = await fetch(`${stage.url}/api/v1/sessions/${stage.parallel}/rerun`, { method: 'POST' });
  const { session_id } = (await answer.json()) as { session_id: string };
  const page = await open(`/sessions/${session_id}`);
  const panes = page.getByTestId('pane');
  await expect.poll(() => panes.count(), patience).toBe(3);
  for (const pane of await panes.all())
    await expect.poll(() => pane.getByTestId('timeline-row').count(), patience).toBeGreaterThan(1);
  await page
    .getByTestId('session-header')
    .getByText(/[1-9]k tokens/)
    .waitFor();
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, 'session-live-dark');
});

test('session, when it is over', async () => {
  const page = await open(`/sessions/${stage.parallel}`);
  await page.getByTestId('executive-summary').waitFor();
  await page.getByTestId('chat-open').click();
  await page.getByTestId('chat-input').fill('Why did it happen?');
  await page.keyboard.press('Enter');
  await page.getByTestId('chat-stop').waitFor();
  await page.getByTestId('chat-send').waitFor();
  await page.getByTestId('chat-answer').waitFor();
  // As opened now, without the button that jumps to new rows.
  await page.reload();
  await page.getByTestId('chat-answer').waitFor();
  await page.getByTestId('executive-summary').waitFor();
  await shoot(page, 'session');
});

test('alerts', async () => {
  const page = await open('/alerts');
  await page.getByTestId('suppressed-alert').nth(5).waitFor();
  await shoot(page, 'alerts');
});

test('trace', async () => {
  const page = await open(`/sessions/${stage.parallel}/trace`);
  await page.locator('[data-call]').nth(1).click();
  await page.getByTestId('copy-call').waitFor();
  await shoot(page, 'trace');
});

test('submit', async () => {
  const page = await open('/submit');
  await page.getByTestId('submit-default-tools').waitFor();
  await page.getByTestId('submit-format').getByText('JSON').click();
  await page
    .getByTestId('submit-payload')
    .fill(JSON.stringify({ alert: 'PodOOMKilled', namespace: 'shop', pod: 'web-1', restarts: 3 }, null, 2));
  await page.getByTestId('submit-tools').getByText('Selected', { exact: true }).click();
  await page.getByTestId('mcp-server').first().locator('summary').click();
  await page.getByText('Valid JSON').waitFor();
  await shoot(page, 'submit');
});

test('system', async () => {
  const page = await open('/system?tab=usage');
  await page.getByTestId('usage-chart').nth(1).waitFor();
  await shoot(page, 'system');
});

test('note', async () => {
  const found = await fetch(`${stage.url}/api/v1/notes?q=incident`);
  const { notes } = (await found.json()) as { notes: { id: string }[] };
  const page = await open(`/notes/${notes[0]?.id}`);
  await page.getByTestId('note-entity').nth(4).waitFor();
  await shoot(page, 'note');
});

test('review', async () => {
  const page = await open('/review?kind=duplicate');
  await page.getByTestId('review-evidence').waitFor();
  await shoot(page, 'review');
});

test('board', async () => {
  const page = await open('/board');
  const cards = page.getByTestId('board-card');
  await expect.poll(() => cards.count(), patience).toBe(4);
  // Some work is done, for a typical board.
  for (const [text, column] of [
    ['runbook', 'in_progress'],
    ['alert on cert-manager', 'done'],
  ] as const) {
    await cards.filter({ hasText: text }).getByTestId('card-menu').click();
    await page.getByTestId(`card-to-${column}`).click();
    await expect.poll(() => page.getByTestId(`column-${column}`).getByTestId('board-card').count(), patience).toBe(1);
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  await shoot(page, 'board-dark');
});
