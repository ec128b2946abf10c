import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually, readOnce, stored } from '../kit/expecting';
import { createEpic, createProject, extracts, organizes, processed, scriptOf } from '../kit/notes';
import { scenario } from '../kit/scenario';
import { plainScript } from '../kit/server';

const { server, visit } = scenario();

/** The project and epic, and the number of item sets created. */
const made = { project: '', epic: '', sets: 0 };

beforeAll(async () => {
  made.project = await createProject(server(), 'Shop', 'Everything about the shop.');
  made.epic = await createEpic(server(), made.project, 'Memory');
});

interface Items {
  entity: string;
  assignment: string;
  duplicate: string;
  epic: string;
  /** The two entities of the duplicate. */
  first: string;
  second: string;
}

/** Creates one open item of each kind, all with a unique word. */
async function makeItems(): Promise<Items> {
  const word = `set${++made.sets}`;
  const known = `Bound the cache of ${word}`;
  const routes = (first = '') => [
    extracts(`${word} again`, [{ title: `${known} now`, evidence: `${word} again` }]),
    extracts(word, [
      { title: known, owner: 'Ada', tags: ['cache'], evidence: `bound the cache of ${word}` },
      { type: 'risk', title: `The disk of ${word} may fill up`, evidence: `disk of ${word}`, confidence: 0.3 },
      { title: `Call the vendor of ${word}`, evidence: `call the vendor of ${word}` },
      { title: `Start the new epic of ${word}`, evidence: `new epic of ${word}` },
    ]),
    ...(first === ''
      ? []
      : [organizes(`${known} now`, [{ duplicate_of: first, reason: 'Both bound the same cache.' }])]),
    organizes(known, [
      {},
      {},
      { project_id: made.project, epic_id: made.epic, confidence: 0.4, reason: 'The vendor sells to the shop.' },
      {
        project_id: made.project,
        new_epic_name: `Epic of ${word}`,
        new_epic_description: 'New work',
        reason: 'It is new.',
      },
    ]),
  ];
  const { mock } = server();
  await mock.play(scriptOf(routes(), plainScript));
  const text = `Ada will bound the cache of ${word}. Watch the disk of ${word}. We call the vendor of ${word}. A new epic of ${word} begins.`;
  const one = await processed(server(), text);
  const first = one.entities.find((entity) => entity.title === known)?.id ?? '';
  await mock.play(scriptOf(routes(first), plainScript));
  const two = await processed(server(), `Bound the cache: ${word} again.`);
  const item = (items: typeof one.review_items, kind: string) => items.find((row) => row.kind === kind)?.id ?? '';
  return {
    entity: item(one.review_items, 'entity'),
    assignment: item(one.review_items, 'assignment'),
    duplicate: item(two.review_items, 'duplicate'),
    epic: item(one.review_items, 'epic'),
    first,
    second: two.entities[0]?.id ?? '',
  };
}

interface Entity {
  title: string;
  state: string;
  owner: string;
  project_id: string | null;
  epic_id: string | null;
  merged_into: string | null;
}

const entityOf = (id: string) => server().ask<Entity>('GET', `/api/v1/entities/${id}`);
const itemOf = (id: string) =>
  server().ask<{
    status: string;
    version: number;
    entity_id: string;
    resolved_by: string;
    decisions: { reason: string }[];
  }>('GET', `/api/v1/review/${id}`);

const shown = (page: Page, id: string) => page.locator(`[data-testid=review-item][data-item-id="${id}"]`);

/** Returns the rows of the diff as field and remaining cells. */
async function diffOf(page: Page): Promise<Record<string, string>> {
  const rows = await page.getByTestId('diff-row').all();
  const pairs = await Promise.all(
    rows.map(async (row) => [
      await row.getAttribute('data-field'),
      (await row.locator('td').allInnerTexts()).join(' | '),
    ]),
  );
  return Object.fromEntries(pairs);
}

test('each kind of item is decided with its key, and the next one follows', async () => {
  const items = await makeItems();
  const tab = await visit(`/review?item=${items.entity}`);
  const { page } = tab;
  await shown(page, items.entity).waitFor();
  await page.getByTestId('review-count').waitFor();
  await eventually(() => diffOf(page)).toMatchObject({
    Type: expect.stringContaining('Risk'),
    Title: expect.stringContaining('may fill up'),
  });
  await eventually(() => page.getByTestId('review-evidence').getByTestId('evidence-mark').innerText()).toBe(
    `disk of set${made.sets}`,
  );
  await tab.expectAccessible();

  // The help lists the keys.
  await page.keyboard.press('?');
  const help = () => page.getByTestId('keyboard-help').innerText();
  for (const line of ['Accept', 'Edit', 'Reject', 'Next item']) await eventually(help).toContain(line);
  await page.keyboard.press('Escape');
  await page.getByTestId('keyboard-help').waitFor({ state: 'detached' });

  const entity = (await itemOf(items.entity)).entity_id;
  await page.keyboard.press('a');
  await page.getByTestId('review-toast').getByText('Accepted:').waitFor();
  await shown(page, items.entity).waitFor({ state: 'detached' });
  expect(await stored(entityOf(entity))).toMatchObject({ state: 'accepted' });

  // The next item opened automatically; the others are opened by address.
  await page.getByTestId('review-item').waitFor();
  await page.goto(`${server().url}/review?item=${items.assignment}`);
  await shown(page, items.assignment).waitFor();
  await eventually(() => diffOf(page)).toMatchObject({
    Project: expect.stringMatching(/none[\s\S]*\|[\s\S]*Shop/),
    Epic: expect.stringMatching(/none[\s\S]*\|[\s\S]*Memory/),
  });
  await page.getByText('The vendor sells to the shop.').waitFor();
  await page.getByTestId('review-reason').fill('Fits well');
  await page.getByTestId('review-accept').click();
  await page.getByTestId('review-toast').waitFor();
  const assigned = await itemOf(items.assignment);
  expect(await stored(entityOf(assigned.entity_id))).toMatchObject({ project_id: made.project, epic_id: made.epic });
  expect(assigned.decisions.at(-1)?.reason).toBe('Fits well');

  await page.goto(`${server().url}/review?item=${items.epic}`);
  await shown(page, items.epic).waitFor();
  await eventually(() => diffOf(page)).toMatchObject({ Epic: expect.stringContaining(`Epic of set${made.sets}`) });
  await tab.expectAccessible();
  await page.keyboard.press('r');
  await page.getByTestId('review-toast').getByText('Rejected:').waitFor();
  expect((await stored(itemOf(items.epic))).status).toBe('rejected');

  await page.goto(`${server().url}/review?item=${items.duplicate}`);
  await shown(page, items.duplicate).waitFor();
  await eventually(() => diffOf(page)).toMatchObject({ Title: expect.stringMatching(/now[\s\S]*\|/) });
  await tab.expectAccessible();
  await page.keyboard.press('m');
  await page.getByTestId('review-toast').getByText('Merged:').waitFor();
  expect(await stored(entityOf(items.second))).toMatchObject({ state: 'merged', merged_into: items.first });
});

test('an item is edited and accepted', async () => {
  const items = await makeItems();
  const tab = await visit(`/review?item=${items.entity}`);
  const { page } = tab;
  await shown(page, items.entity).waitFor();
  const { entity_id } = await itemOf(items.entity);
  await page.keyboard.press('e');
  await page.getByTestId('review-edit-form').waitFor();
  await tab.expectAccessible();
  await page.getByTestId('entity-title').fill('');
  tab.tolerated = [/\b4(00|22)\b/];
  await page.getByTestId('edit-accept').click();
  await page.getByRole('alert').waitFor();
  await page.getByTestId('entity-title').fill('Watch the disk');
  await page.getByTestId('entity-owner').fill('Bob');
  await page.getByTestId('edit-accept').click();
  await page.getByTestId('review-toast').getByText('Edited and accepted:').waitFor();
  expect(await stored(entityOf(entity_id))).toMatchObject({ title: 'Watch the disk', owner: 'Bob', state: 'accepted' });
});

test('an item decided by someone else is not decided again', async () => {
  const items = await makeItems();
  const tab = await visit(`/review?item=${items.entity}`);
  const { page } = tab;
  await shown(page, items.entity).waitFor();
  const { version } = await itemOf(items.entity);
  await fetch(`${server().url}/api/v1/review/${items.entity}/resolve`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'If-Match': `"${version}"` },
    body: JSON.stringify({ decision: 'reject' }),
  });
  // The page reports the change and keeps showing the item as it was.
  await page.getByTestId('conflict').getByText('has changed since you opened it', { exact: false }).waitFor();
  await tab.expectAccessible();
  tab.tolerated = [/\b4(09|12)\b/];
  await page.getByTestId('review-accept').click();
  await page.getByTestId('conflict').getByText('Changed by someone else').waitFor();
  expect((await stored(itemOf(items.entity))).status).toBe('rejected');
  await page.getByTestId('conflict-reload').click();
  await page.getByTestId('review-outcome').getByText('Rejected').waitFor();
  await eventually(() => page.getByTestId('review-accept').count()).toBe(0);
});

test('a decision is undone immediately, and from the list of recent ones', async () => {
  const items = await makeItems();
  const { page } = await visit(`/review?item=${items.entity}`);
  await shown(page, items.entity).waitFor();
  await page.keyboard.press('r');
  await page.getByTestId('review-toast').getByText('Rejected:').waitFor();
  await page.keyboard.press('u');
  await shown(page, items.entity).waitFor();
  await page.getByTestId('review-accept').waitFor();
  expect((await stored(itemOf(items.entity))).status).toBe('open');
  await eventually(() => page.getByTestId('conflict').count()).toBe(0);

  await page.getByTestId('review-accept').click();
  await page.getByTestId('review-toast').getByText('Accepted:').waitFor();
  const decision = page.getByTestId('recent-decision').filter({ hasText: `The disk of set${made.sets}` });
  await decision.getByTestId('recent-undo').click();
  await shown(page, items.entity).waitFor();
  expect((await stored(itemOf(items.entity))).status).toBe('open');
});

test('a decision that was undone is made again although the list is late', async () => {
  const items = await makeItems();
  const { page } = await visit(`/review?item=${items.entity}`);
  await shown(page, items.entity).waitFor();
  await page.getByTestId('review-position').waitFor();
  // From here on the page keeps the list of before the decisions.
  await page.route('**/api/v1/review?*', () => {});
  await page.keyboard.press('r');
  await page.getByTestId('review-toast').getByText('Rejected:').waitFor();
  await page.keyboard.press('u');
  await shown(page, items.entity).waitFor();
  await page.getByTestId('review-accept').click();
  await page.getByTestId('review-toast').getByText('Accepted:').waitFor();

  await page.unroute('**/api/v1/review?*');

  // The item that is shown with its decision is open after the undo, without a word about changes.
  await page.goto(`${server().url}/review?item=${items.entity}`);
  await page.getByTestId('review-undo-item').click();
  await page.getByTestId('review-accept').waitFor();
  expect(await readOnce(() => page.getByTestId('conflict').count())).toBe(0);
  await page.keyboard.press('a');
  await page.getByTestId('review-toast').getByText('Accepted:').waitFor();
});

test('several items are decided at once', async () => {
  const items = await makeItems();
  const tab = await visit('/review?mode=bulk');
  const { page } = tab;
  const box = (id: string) => page.locator(`[data-testid=bulk-item][data-item-id="${id}"]`);
  await box(items.entity).waitFor();
  await tab.expectAccessible();
  await box(items.entity).getByRole('checkbox').check();
  await box(items.assignment).getByRole('checkbox').check();
  await page.getByText('2 items selected').waitFor();
  await page.getByTestId('bulk-reject').click();
  await page.getByTestId('bulk-report').getByText('2 items decided.').waitFor();
  await box(items.entity).waitFor({ state: 'detached' });
  expect((await stored(itemOf(items.assignment))).status).toBe('rejected');
});

test('a bulk decision reports and keeps items that others decided meanwhile', async () => {
  const items = await makeItems();
  const word = `set${made.sets}`;
  const tab = await visit('/review?mode=bulk');
  const { page } = tab;
  const box = (id: string) => page.locator(`[data-testid=bulk-item][data-item-id="${id}"]`);
  for (const id of [items.entity, items.assignment, items.epic]) await box(id).getByRole('checkbox').check();
  await page.getByText('3 items selected').waitFor();

  // While the request is in flight, someone else rejects one item, and decides and reopens another.
  await page.route('**/api/v1/review/bulk', async (route) => {
    for (const id of [items.entity, items.assignment])
      await server().ask('POST', '/api/v1/review/bulk', {
        decision: 'reject',
        items: [{ id, version: (await itemOf(id)).version }],
      });
    await server().ask('POST', `/api/v1/review/${items.assignment}/undo`);
    await route.continue();
  });
  await page.getByTestId('bulk-accept').click();
  const report = page.getByTestId('bulk-report');
  await report.getByText('1 item decided.').waitFor();
  const lines = () => report.locator('li').allInnerTexts();
  await eventually(lines).toHaveLength(2);
  await eventually(async () => (await lines()).join('\n')).toContain(`The disk of ${word} may fill up`);
  await eventually(async () => (await lines()).join('\n')).toContain(`Call the vendor of ${word}`);
  expect((await stored(itemOf(items.epic))).status).toBe('accepted');
  expect((await stored(itemOf(items.entity))).status).toBe('rejected');
  await tab.expectAccessible();

  // The reopened item is still listed and can be decided.
  await page.unroute('**/api/v1/review/bulk');
  await box(items.assignment).getByRole('checkbox').check();
  await page.getByTestId('bulk-accept').click();
  await report.getByText('1 item decided.').waitFor();
  await eventually(async () => (await itemOf(items.assignment)).status).toBe('accepted');
});

test('a new epic is accepted as proposed, or with another name', async () => {
  const first = await makeItems();
  const word = `set${made.sets}`;
  const tab = await visit(`/review?item=${first.epic}`);
  const { page } = tab;
  await shown(page, first.epic).waitFor();
  await page.keyboard.press('a');
  await page.getByTestId('review-toast').getByText('Accepted:').waitFor();
  const epics = async () => {
    const { epics } = await server().ask<{ epics: { id: string; name: string }[] }>(
      'GET',
      `/api/v1/projects/${made.project}`,
    );
    return epics;
  };
  const accepted = (await epics()).find((epic) => epic.name === `Epic of ${word}`);
  expect(accepted).toBeDefined();
  const filed = await server().ask<{ entities: { title: string }[] }>(
    'GET',
    `/api/v1/entities?epic_id=${accepted?.id}`,
  );
  expect(filed.entities.map((entity) => entity.title)).toEqual([`Start the new epic of ${word}`]);

  const second = await makeItems();
  await page.goto(`${server().url}/review?item=${second.epic}`);
  await shown(page, second.epic).waitFor();
  await page.keyboard.press('e');
  await page.getByTestId('edit-epic-name').fill(`Renamed ${made.sets}`);
  await tab.expectAccessible();
  await page.getByTestId('edit-accept').click();
  await page.getByTestId('review-toast').getByText('Edited and accepted:').waitFor();
  const names = (await epics()).map((epic) => epic.name);
  expect(names).toContain(`Renamed ${made.sets}`);
  expect(names).not.toContain(`Epic of set${made.sets}`);
});

test('the entity to keep in a merge can be chosen', async () => {
  const items = await makeItems();
  const { page } = await visit(`/review?item=${items.duplicate}`);
  await shown(page, items.duplicate).waitFor();
  await page.getByRole('radio', { name: /this entity/ }).check();
  await page.keyboard.press('m');
  await page.getByTestId('review-toast').getByText('Merged:').waitFor();
  expect(await stored(entityOf(items.first))).toMatchObject({ state: 'merged', merged_into: items.second });
  expect(await stored(entityOf(items.second))).toMatchObject({ state: 'accepted' });
});

test('the open count follows decisions made elsewhere', async () => {
  const items = await makeItems();
  const { page } = await visit('/system');
  const count = page.getByTestId('review-count');
  const number = async () => Number.parseInt(await count.innerText(), 10);
  await count.waitFor();
  const before = await number();
  await server().ask('POST', '/api/v1/review/bulk', {
    decision: 'accept',
    items: [{ id: items.entity, version: (await itemOf(items.entity)).version }],
  });
  await eventually(number).toBe(before - 1);
});

test('a filter without items is reported', async () => {
  const { page } = await visit('/review?kind=duplicate');
  await page.getByTestId('review-kind').waitFor();
  const open = await server().ask<{ items: { id: string; version: number }[] }>(
    'GET',
    '/api/v1/review?kind=duplicate&status=open',
  );
  if (open.items.length > 0)
    await server().ask('POST', '/api/v1/review/bulk', {
      decision: 'reject',
      items: open.items.map(({ id, version }) => ({ id, version })),
    });
  await page.reload();
  await page.getByText('No open items of this kind').waitFor();
  await page.getByRole('button', { name: 'Show every kind' }).click();
  await page.waitForURL((url) => url.search === '');
});
