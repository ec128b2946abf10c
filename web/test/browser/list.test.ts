import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { openFilters } from '../kit/filters';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({
  script: `
version: 1
routes:
  - when: {agent: Investigator, user: refuses}
    replies: [{error: {status: 400, message: The model refuses to look at this., class: invalid_request}, times: forever}]
  - when: {agent: Investigator, user: the long one}
    replies: [{text: It took its time., gate: hold, times: forever}]
  - when: {agent: Investigator, user: disk}
    replies: [{text: The disk is full of logs., times: forever}]
  - when: {agent: Investigator}
    replies: [{text: The pod ran out of memory., times: forever}]
  - when: {user: The disk is full}
    replies: [{text: A full disk., times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
mcp_servers: {cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}}
`,
  config: `
agents:
  Investigator: {mcp_servers: [cluster]}
agent_chains:
  plain:
    description: One agent investigates.
    alert_types: [pod-crash, disk-full]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
`,
});

/** The sessions that every test starts with, oldest first. */
const sessions = { failed: '', running: '', disk: '', memory: '' };

beforeAll(async () => {
  const one = server();
  sessions.failed = await one.submit('The model refuses this.');
  sessions.running = await one.submit('This is the long one.');
  await one.mock.reached('hold');
  sessions.disk = await one.submit('The disk of db-0 is nearly full.', 'disk-full');
  sessions.memory = await one.submit();
  await Promise.all([sessions.failed, sessions.disk, sessions.memory].map((id) => one.waitUntilEnded(id)));
});

/** Returns the ids of the rows, from the top. */
function rowsOf(page: Page): Promise<string[]> {
  return page
    .getByTestId('session-row')
    .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.sessionId ?? ''));
}

async function expectRows(page: Page, ids: readonly string[]): Promise<void> {
  await eventually(() => rowsOf(page)).toEqual(ids);
}

function focused(page: Page): Promise<string | undefined> {
  return page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.sessionId);
}

test('running and failed sessions come first unless the address orders otherwise', async () => {
  const { page } = await visit('/');
  const { running, failed, memory, disk } = sessions;
  await expectRows(page, [running, failed, memory, disk]);
  const first = page.getByTestId('session-row').first();
  await eventually(() => first.innerText()).toMatch(/Running[\s\S]*pod-crash[\s\S]*In stage 1 of 1/);
  await eventually(() => page.locator(`[data-session-id="${failed}"]`).innerText()).toContain(
    'refuses to look at this',
  );
  await eventually(() => page.title()).toContain('(1 running)');

  await page.getByTestId('filter-order').getByText('Newest first').click();
  await expectRows(page, [memory, disk, running, failed]);
  await eventually(() => new URL(page.url()).search).toBe('?order=newest');
});

test('filters and search in the address survive reload, back and saved links', async () => {
  const { page } = await visit('/');
  const { running, failed, memory, disk } = sessions;
  await expectRows(page, [running, failed, memory, disk]);

  await openFilters(page);
  await page.getByTestId('filter-status').click();
  await page.getByTestId('filter-status-failed').click();
  await page.getByTestId('filter-status-completed').click();
  await page.keyboard.press('Escape');
  await expectRows(page, [failed, memory, disk]);
  await page.getByTestId('filter-alert_type').selectOption('disk-full');
  await expectRows(page, [disk]);
  await page.getByTestId('search').fill('nearly');
  await page.waitForURL(/search=nearly/);
  await expectRows(page, [disk]);
  const saved = page.url();
  expect(new URL(saved).search).toBe('?status=failed,completed&alert_type=disk-full&search=nearly');

  await page.reload();
  await expectRows(page, [disk]);
  await eventually(() => page.getByTestId('search').inputValue()).toBe('nearly');
  await eventually(() => page.getByTestId('filter-alert_type').inputValue()).toBe('disk-full');
  await eventually(() => page.getByTestId('filter-status').innerText()).toContain('Failed, Completed');

  // The search replaced its history entry, so going back undoes the last filter choice.
  await page.goBack();
  await page.waitForURL((url) => url.search === '?status=failed,completed');
  await expectRows(page, [failed, memory, disk]);
  await eventually(() => page.getByTestId('search').inputValue()).toBe('');
  await page.goBack();
  await expectRows(page, [failed]);
  await page.goBack();
  await expectRows(page, [running, failed, memory, disk]);
  await page.goForward();
  await expectRows(page, [failed]);

  const link = new URL(saved);
  const other = await visit(link.pathname + link.search);
  await expectRows(other.page, [disk]);
  await eventually(() => other.page.getByTestId('search').inputValue()).toBe('nearly');
});

test('a filter without matches is reported and can be cleared', async () => {
  const tab = await visit('/?search=nothing-has-this&order=newest');
  const { page } = tab;
  await page.getByRole('heading', { name: 'No sessions match these filters' }).waitFor();
  expect(await readOnce(() => page.getByTestId('empty-first-visit').count())).toBe(0);
  await tab.expectAccessible();
  await page.getByTestId('filter-clear').click();
  await expectRows(page, [sessions.memory, sessions.disk, sessions.running, sessions.failed]);
  await eventually(() => new URL(page.url()).search).toBe('?order=newest');
});

test('search covers the full text of alert and analysis', async () => {
  const { page } = await visit('/?search=full%20of%20logs');
  await expectRows(page, [sessions.disk]);
});

test('j, k, arrows and Enter select and open rows, and back restores the row', async () => {
  const { page } = await visit('/');
  const { running, failed, memory, disk } = sessions;
  await expectRows(page, [running, failed, memory, disk]);
  await page.keyboard.press('j');
  await eventually(() => focused(page)).toBe(running);
  await page.keyboard.press('j');
  await page.keyboard.press('ArrowDown');
  await eventually(() => focused(page)).toBe(memory);
  await page.keyboard.press('k');
  await eventually(() => focused(page)).toBe(failed);
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowDown');
  await eventually(() => focused(page)).toBe(disk);
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(memory));
  await page.getByTestId('outcome').waitFor();

  await page.goBack();
  await expectRows(page, [running, failed, memory, disk]);
  await page.keyboard.press('k');
  await eventually(() => focused(page)).toBe(memory);

  // Letters go to the focused field.
  await page.keyboard.press('/');
  await page.keyboard.type('jk');
  await eventually(() => page.getByTestId('search').inputValue()).toBe('jk');
});

test('rows update live, and new sessions do not move the list', async () => {
  const { page } = await visit('/');
  const { running, failed, memory, disk } = sessions;
  await expectRows(page, [running, failed, memory, disk]);
  // The list is being read: rows are updated in place.
  await page.keyboard.press('j');
  const fresh = await server().submit('web-2 is out of memory.');
  await server().mock.open('hold');
  expect(await server().waitUntilEnded(running)).toBe('completed');
  await page.locator(`[data-session-id="${running}"][data-status=completed]`).waitFor();
  expect(await readOnce(() => focused(page))).toBe(running);
  const show = page.getByTestId('show-changes');
  await show.getByText('Show 1 new session').waitFor();
  expect(await readOnce(() => rowsOf(page))).toEqual([running, failed, memory, disk]);
  await server().waitUntilEnded(fresh);
  await show.click();
  await expectRows(page, [failed, fresh, memory, disk, running]);
});

/** Scrolls through the list and returns every row, and the largest number of mounted rows. */
async function readList(page: Page): Promise<{ ids: string[]; most: number }> {
  return page.evaluate(async () => {
    const main = document.querySelector('main') ?? document.body;
    const byPlace = new Map<number, string>();
    const state = { most: 0 };
    const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
    const read = () => {
      const rows = [...document.querySelectorAll<HTMLElement>('[data-row]')];
      state.most = Math.max(state.most, rows.length);
      for (const row of rows) byPlace.set(Number(row.ariaPosInSet), row.dataset.row ?? '');
    };
    main.scrollTop = 0;
    for (let top = -1; top !== main.scrollTop; ) {
      top = main.scrollTop;
      await frame();
      await frame();
      read();
      main.scrollTop += main.clientHeight / 2;
    }
    const places = [...byPlace.keys()].sort((a, b) => a - b);
    return { ids: places.map((place) => byPlace.get(place) ?? ''), most: state.most };
  });
}

test('a long list loads the next page near its end and renders only visible rows', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 60; n++) ids.push(await server().submit(`web-${n} is out of memory.`));
  await Promise.all(ids.map((id) => server().waitUntilEnded(id)));

  const { page } = await visit('/?order=newest');
  await page.getByTestId('load-more').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('End');
  // The focus stays on its row, the last one of the first page.
  await eventually(() => focused(page)).toBe(ids[10]);
  await page.getByText('All 65 sessions shown').waitFor();
  expect(await readOnce(() => focused(page))).toBe(ids[10]);
  const { ids: all, most } = await readList(page);
  expect(all.slice(0, 60)).toEqual(ids.toReversed());
  expect(new Set(all).size).toBe(65);
  expect(most).toBeLessThan(45);

  // The focused row stays mounted although it is out of view, and the keys continue from it.
  expect(await readOnce(() => focused(page))).toBe(ids[10]);
  await page.keyboard.press('ArrowDown');
  await eventually(() => focused(page)).toBe(ids[9]);
  await eventually(() => inView(page)).toBe(true);
  await page.keyboard.press('Home');
  await eventually(() => focused(page)).toBe(ids[59]);
  await eventually(() => inView(page)).toBe(true);

  // Going back returns to the same row and scroll position.
  await page.keyboard.press('End');
  await eventually(() => inView(page)).toBe(true);
  const last = await focused(page);
  const top = await page.locator('main').evaluate((main) => main.scrollTop);
  expect(top).toBeGreaterThan(1000);
  await page.keyboard.press('Enter');
  await page.waitForURL(/sessions/);
  await page.getByTestId('outcome').waitFor();
  await page.goBack();
  await eventually(() => page.locator('main').evaluate((main) => main.scrollTop)).toBeCloseTo(top, -2);
  await page.keyboard.press('j');
  await eventually(() => focused(page)).toBe(last);
});

/** Reports whether the focused row is in the window. */
function inView(page: Page): Promise<boolean> {
  return page.evaluate(() => {
    const box = document.activeElement?.getBoundingClientRect();
    return box !== undefined && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight;
  });
}
