import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually, stored } from '../kit/expecting';
import { createEpic, createProject, createTask } from '../kit/notes';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario();

const columns = ['open', 'in_progress', 'done', 'dropped'] as const;
type Column = (typeof columns)[number];

const column = (page: Page, name: Column) => page.getByTestId(`column-${name}`);
const card = (page: Page, title: string) => page.getByTestId('board-card').filter({ hasText: title });
const titles = (page: Page, name: Column) => column(page, name).locator('[data-card-title]').allInnerTexts();

async function expectTitles(page: Page, name: Column, wanted: readonly string[]): Promise<void> {
  await eventually(() => titles(page, name)).toEqual(wanted);
}

/** Returns the titles of a project's column from the server. */
async function storedTitles(project: string, status: Column): Promise<string[]> {
  const { entities } = await server().ask<{ entities: { title: string }[] }>(
    'GET',
    `/api/v1/entities?project_id=${project}&status=${status}&order=board`,
  );
  return entities.map((entity) => entity.title);
}

/** Creates a project with tasks in its first column. */
async function projectWith(name: string, ...tasks: string[]): Promise<string> {
  const project = await createProject(server(), name);
  for (const title of tasks) await createTask(server(), title, { project_id: project });
  return project;
}

test('cards are moved by drag, within a column and to another', async () => {
  const project = await projectWith('Dragged', 'One', 'Two', 'Three');
  const tab = await visit(`/board?project=${project}`);
  const { page } = tab;
  await expectTitles(page, 'open', ['One', 'Two', 'Three']);
  await tab.expectAccessible();

  await card(page, 'One').dragTo(column(page, 'in_progress'));
  await expectTitles(page, 'in_progress', ['One']);
  await eventually(() => storedTitles(project, 'in_progress')).toEqual(['One']);

  // Above the first card of its column.
  await card(page, 'Three').dragTo(card(page, 'Two'), { targetPosition: { x: 40, y: 2 } });
  await expectTitles(page, 'open', ['Three', 'Two']);
  await eventually(() => storedTitles(project, 'open')).toEqual(['Three', 'Two']);
  await page.reload();
  await expectTitles(page, 'open', ['Three', 'Two']);
});

test('cards are moved by keyboard and by menu, and moves are announced', async () => {
  const project = await projectWith('Keyed', 'First', 'Second', 'Third');
  const tab = await visit(`/board?project=${project}`);
  const { page } = tab;
  await expectTitles(page, 'open', ['First', 'Second', 'Third']);
  const focused = () => page.evaluate(() => document.activeElement?.textContent);
  const announcement = page.getByTestId('board-announcement');

  await page.locator('[data-card-title][tabindex="0"]').focus();
  await page.keyboard.press('ArrowDown');
  await eventually(focused).toBe('Second');
  await page.keyboard.press('Shift+ArrowDown');
  await expectTitles(page, 'open', ['First', 'Third', 'Second']);
  await eventually(() => announcement.innerText()).toBe('Second: moved to Open, position 3 of 3.');
  await eventually(focused).toBe('Second');
  await page.keyboard.press('Shift+ArrowRight');
  await expectTitles(page, 'in_progress', ['Second']);
  await eventually(() => announcement.innerText()).toBe('Second: moved to In progress, position 1 of 1.');
  await eventually(focused).toBe('Second');
  await eventually(() => storedTitles(project, 'in_progress')).toEqual(['Second']);
  await page.keyboard.press('Shift+ArrowUp');
  await eventually(() => announcement.innerText()).toContain('Cannot move up');
  await page.keyboard.press('ArrowLeft');
  await eventually(focused).toBe('First');

  await card(page, 'Third').getByTestId('card-menu').click();
  await tab.expectAccessible();
  await page.getByTestId('card-to-done').click();
  await expectTitles(page, 'done', ['Third']);
  await eventually(() => storedTitles(project, 'done')).toEqual(['Third']);

  await page.keyboard.press('?');
  await eventually(() => page.getByTestId('keyboard-help').innerText()).toContain('Move the card');
});

test('projects, epics and tasks are created, changed and deleted', async () => {
  const tab = await visit('/board');
  const { page } = tab;
  await page.getByTestId('project-new').click();
  await page.getByTestId('subject-name').fill('Payments');
  await page.getByTestId('subject-description').fill('All about paying.');
  await tab.expectAccessible();
  await page.getByTestId('subject-save').click();
  await page.getByTestId('board-place').filter({ hasText: 'Payments' }).click();
  await page.getByRole('heading', { level: 1, name: 'Payments' }).waitFor();
  await page.getByText('All about paying.').waitFor();
  await page.getByText('No tasks here yet').waitFor();
  await page.getByTestId('epic-new').click();
  await page.getByTestId('subject-name').fill('Refunds');
  await page.getByTestId('subject-save').click();
  await page.getByTestId('board-place').filter({ hasText: 'Refunds' }).click();
  await page.getByRole('heading', { level: 1, name: 'Refunds' }).waitFor();

  await page.getByTestId('entity-new').click();
  await page.getByTestId('entity-title').fill('Refund twice');
  await page.getByTestId('entity-owner').fill('Ada');
  await page.getByTestId('entity-due').fill('2020-01-31');
  await page.getByTestId('entity-tags').fill('Money, urgent');
  await page.getByTestId('entity-save').click();
  await card(page, 'Refund twice').waitFor();
  const text = () => card(page, 'Refund twice').innerText();
  for (const part of ['Ada', 'Overdue', 'money', 'urgent']) await eventually(text).toContain(part);

  await page.locator('[data-card-title]').click();
  await page.waitForURL(/entity=/);
  await page.getByTestId('entity-form').waitFor();
  await tab.expectAccessible();
  await page.getByTestId('entity-title').fill('Refund once');
  await page.getByTestId('entity-status').selectOption('done');
  await page.getByTestId('entity-save').click();
  await expectTitles(page, 'done', ['Refund once']);

  await page.locator('[data-card-title]').click();
  await page.getByTestId('entity-delete').click();
  await page.getByTestId('entity-delete-confirm').click();
  await page.getByText('No tasks here yet').waitFor();

  const edit = page.getByRole('button', { name: 'Edit Payments' });
  await edit.click();
  await page.getByTestId('subject-delete').click();
  await page.getByTestId('subject-delete-confirm').click();
  await edit.waitFor({ state: 'detached' });
  await page.getByRole('heading', { level: 1, name: 'Board' }).waitFor();
});

test('a deleted task is not loaded again when its event arrives before the response', async () => {
  const project = await projectWith('Short-lived', 'Gone soon');
  const { page } = await visit(`/board?project=${project}`);
  await page.locator('[data-card-title]').click();
  await page.getByTestId('entity-form').waitFor();
  await page.route('**/api/v1/entities/*', async (route) => {
    if (route.request().method() !== 'DELETE') return route.fallback();
    const reloaded = page.waitForResponse((response) => response.url().includes('/api/v1/entities?'));
    const response = await route.fetch();
    await reloaded;
    await route.fulfill({ response });
  });
  await page.getByTestId('entity-delete').click();
  await page.getByTestId('entity-delete-confirm').click();
  await page.getByText('No tasks here yet').waitFor();
  await page.getByTestId('entity-form').waitFor({ state: 'detached' });
});

test('a task changed by someone else is not overwritten', async () => {
  const project = await projectWith('Contested', 'Ours');
  const tab = await visit(`/board?project=${project}`);
  const { page } = tab;
  await page.locator('[data-card-title]').click();
  await page.getByTestId('entity-form').waitFor();
  const id = new URL(page.url()).searchParams.get('entity') ?? '';
  await fetch(`${server().url}/api/v1/entities/${id}`, {
    method: 'PATCH',
    headers: { 'Content-Type': 'application/json', 'If-Match': '"1"' },
    body: JSON.stringify({ title: 'Theirs' }),
  });
  tab.tolerated = [/\b412\b/];
  await page.getByTestId('entity-owner').fill('Ada');
  await page.getByTestId('entity-save').click();
  await page.getByTestId('conflict').waitFor();
  await tab.expectAccessible();
  await page.getByTestId('conflict-reload').click();
  await eventually(() => page.getByTestId('entity-title').inputValue()).toBe('Theirs');
  await page.getByTestId('entity-owner').fill('Ada');
  await page.getByTestId('entity-save').click();
  await card(page, 'Theirs').getByText('Ada').waitFor();
});

test('filters by owner, tag, due date and type are part of the address, and exports follow them', async () => {
  const project = await createProject(server(), 'Filtered');
  const more = { project_id: project };
  await createTask(server(), 'Old', { ...more, owner: 'Ada', due_on: '2020-01-31', tags: ['cache'] });
  await createTask(server(), 'Other', { ...more, owner: 'Bob' });
  await createTask(server(), 'A risk', { ...more, type: 'risk' });
  const { page } = await visit(`/board?project=${project}`);
  await expectTitles(page, 'open', ['Old', 'Other']);
  await page.getByTestId('board-owner').selectOption('Bob');
  await expectTitles(page, 'open', ['Other']);
  await page.getByTestId('board-owner').selectOption('');
  await page.getByTestId('board-tag').selectOption('cache');
  await expectTitles(page, 'open', ['Old']);
  await page.getByTestId('board-due').selectOption('overdue');
  await page.waitForURL(/tag=cache&due=overdue/);
  await page.reload();
  await expectTitles(page, 'open', ['Old']);
  await page.getByTestId('board-clear').click();
  await page.getByTestId('board-type').selectOption('risk');
  await expectTitles(page, 'open', ['A risk']);
  await page.getByTestId('board-type').selectOption('all');
  await eventually(() => page.getByTestId('board-card').count()).toBe(3);
  await page.getByTestId('board-owner').selectOption('Ada');
  await expectTitles(page, 'open', ['Old']);

  await page.getByTestId('board-export').click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByTestId('export-csv').click()]);
  const address = new URL(download.url());
  expect(address.searchParams.get('owner')).toBe('Ada');
  const csv = await (await fetch(address)).text();
  expect(csv).toContain('Old');
  expect(csv).not.toContain('Other');
  for (const format of ['json', 'markdown']) {
    await page.keyboard.press('Escape');
    await page.getByTestId('board-export').click();
    const href = await page.getByTestId(`export-${format}`).getAttribute('href');
    const file = await fetch(server().url + href);
    expect(await stored(file.text())).toContain('Old');
  }
});

test('a card moved elsewhere moves here, and a search without matches is reported', async () => {
  const project = await projectWith('Watched', 'Alone');
  const { page } = await visit(`/board?project=${project}`);
  await expectTitles(page, 'open', ['Alone']);
  const id = await page.getByTestId('board-card').getAttribute('data-card');
  await server().ask('POST', `/api/v1/entities/${id}/move`, { status: 'done' });
  await expectTitles(page, 'done', ['Alone']);
  await page.getByTestId('board-search').fill('nothing-has-this');
  await page.getByText('Nothing matches these filters').waitFor();
});

test('an epic can be chosen on a narrow screen', async () => {
  const project = await projectWith('Narrow', 'In no epic');
  const epic = await createEpic(server(), project, 'Small');
  await createTask(server(), 'In the epic', { project_id: project, epic_id: epic });
  const { page } = await visit('/board', { viewport: { width: 360, height: 740 } });
  await page.getByTestId('board-place-select').selectOption(`${project} ${epic}`);
  await page.waitForURL(new RegExp(`epic=${epic}`));
  await expectTitles(page, 'open', ['In the epic']);
});
