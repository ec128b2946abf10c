import type { Page } from 'playwright-core';
import { test } from 'vitest';
import { eventually } from '../kit/expecting';
import { capture, extracts, processed, refusesToExtract, scriptOf } from '../kit/notes';
import { scenario } from '../kit/scenario';
import { plainScript } from '../kit/server';

const meeting = '🚒 Post-mortem of web-1.\n\nAda bounds the cache by Friday. We roll back to 1.4. Who owns the alert?';

const routes = [
  extracts(
    'Post-mortem of web-1',
    [
      {
        title: 'Bound the cache',
        owner: 'Ada',
        due_date: '2026-11-20',
        tags: ['cache'],
        evidence: 'Ada bounds the cache by Friday.',
      },
      { type: 'decision', title: 'Roll back to 1.4', evidence: 'We roll back to 1.4.' },
      { type: 'question', title: 'Owner of the alert', evidence: 'Who owns the alert?', confidence: 0.3 },
    ],
    'extract',
  ),
  extracts('The pod ran out of memory.', [
    { title: 'Raise the memory limit', owner: 'Bob', evidence: 'The pod ran out of memory.' },
  ]),
  extracts('<script>', [
    { title: '<img src=x onerror="window.owned=1">', evidence: '<script>window.owned = 1</script>' },
  ]),
  refusesToExtract('an odd note'),
  extracts('Nothing of interest', []),
];

const { server, visit } = scenario({ script: scriptOf(routes, plainScript) });

const row = (page: Page, id: string) => page.locator(`[data-testid=note-row][data-note-id="${id}"]`);

test('a note is captured with Ctrl+Enter, processed live, and shows its entities with evidence', async () => {
  const tab = await visit('/notes');
  const { page } = tab;
  await page.getByText('No notes yet').waitFor();
  await tab.expectAccessible();

  // The page handles the shortcut; the following letters go to the field.
  await page.getByRole('heading', { level: 1, name: 'Notes' }).waitFor();
  await page.keyboard.press('c');
  await page.keyboard.insertText(meeting);
  await page.keyboard.press('Control+Enter');
  const first = page.getByTestId('note-row').first();
  await first.getByText('Queued').waitFor();
  await eventually(() => page.getByTestId('capture-text').inputValue()).toBe('');
  const id = (await first.getAttribute('data-note-id')) ?? '';

  // The row updates on its own when the model has responded, and the navigation shows the number of review items.
  await server().mock.open('extract');
  await page.locator(`[data-note-id="${id}"][data-status=done]`).waitFor();
  await eventually(() => first.innerText()).toContain('3 items');
  await page.getByTestId('review-count').getByText('1').waitFor();

  await first.getByRole('link').click();
  await page.waitForURL(new RegExp(`/notes/${id}`));
  const entities = page.getByTestId('note-entity');
  await eventually(() => entities.count()).toBe(3);
  const marks = page.getByTestId('evidence-mark');
  await eventually(() => marks.allInnerTexts()).toEqual([
    'Ada bounds the cache by Friday.',
    'We roll back to 1.4.',
    'Who owns the alert?',
  ]);
  await eventually(() => page.getByTestId('note-text').innerText()).toBe(meeting);
  await eventually(() => entities.first().innerText()).toMatch(
    /Task[\s\S]*Bound the cache[\s\S]*Ada[\s\S]*Due [\s\S]*cache/,
  );
  await entities.nth(2).getByText('Proposed').waitFor();
  await tab.expectAccessible();

  // An entity highlights its passage and a passage its entity, by pointer and by focus.
  await entities.nth(1).hover();
  await eventually(() => page.locator('[data-lit]').allInnerTexts()).toEqual(['We roll back to 1.4.']);
  await entities.first().getByRole('link').first().focus();
  await page.mouse.move(1, 1);
  await entities.first().getByTestId('show-passage').focus();
  await eventually(() => page.locator('[data-lit]').allInnerTexts()).toEqual(['Ada bounds the cache by Friday.']);
  await page.keyboard.press('Enter');
  await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe(
    'Ada bounds the cache by Friday.',
  );
  await marks.nth(1).locator('a').focus();
  await eventually(() => entities.nth(1).getAttribute('data-active')).toBe('true');
  await page.keyboard.press('Enter');
  await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Roll back to 1.4');
});

test('a failed note shows its error and can be reprocessed', async () => {
  const failed = await processed(server(), 'This is an odd note.', 'failed');
  const tab = await visit('/notes?status=failed');
  const { page } = tab;
  await row(page, failed.id).getByTestId('note-error').waitFor();
  await eventually(() => row(page, failed.id).getByTestId('note-error').innerText()).toContain(
    'does not fit the schema',
  );
  await tab.expectAccessible();
  await server().mock.play(
    scriptOf([extracts('an odd note', [{ title: 'Look again', evidence: 'an odd note' }]), ...routes], plainScript),
  );
  await row(page, failed.id).getByTestId('note-reprocess').click();
  // The note no longer matches the filter for failed ones.
  await row(page, failed.id).waitFor({ state: 'detached' });
  await page.getByText('No notes match these filters').waitFor();
  await page.getByTestId('notes-clear').click();
  await page.locator(`[data-note-id="${failed.id}"][data-status=done]`).waitFor();
});

test('usage lists note calls as their own kind', async () => {
  await processed(server(), 'Nothing of interest happened.');
  const { page } = await visit('/system?tab=usage');
  const kinds = page.getByRole('region', { name: 'By kind' });
  await kinds.getByRole('row', { name: /Notes/ }).waitFor();
  await page
    .getByRole('region', { name: 'By model' })
    .getByRole('row', { name: /scripted-model/ })
    .waitFor();
});

test('all notes since a day are reprocessed', async () => {
  const note = await processed(server(), 'Nothing of interest happened.');
  const tab = await visit('/notes');
  const { page } = tab;
  await page.getByTestId('reprocess-since').locator('summary').click();
  await tab.expectAccessible();
  await page.getByTestId('reprocess-day').fill('2999-01-01');
  await page.getByTestId('reprocess-all').click();
  await page.getByText('No processed notes since then.').waitFor();
  await page.getByTestId('reprocess-day').fill('2020-01-01');
  await page.getByTestId('reprocess-all').click();
  await page.getByText(/Reprocessing \d+ notes?\./).waitFor();
  // The note has the next version and is done again.
  await eventually(async () => {
    const { status, version } = await server().ask<{ status: string; version: number }>(
      'GET',
      `/api/v1/notes/${note.id}`,
    );
    return `${status} ${version}`;
  }).toBe('done 2');
});

test('filters and search are part of the address', async () => {
  const empty = await processed(server(), 'Nothing of interest at the harbour.');
  const { page } = await visit('/notes?source=cli');
  await row(page, empty.id).waitFor();
  await eventually(() => row(page, empty.id).innerText()).toContain('Nothing to extract');
  await page.getByTestId('notes-search').fill('harbour');
  await page.waitForURL(/q=harbour/);
  await eventually(() => page.getByTestId('note-row').count()).toBe(1);
  await page.reload();
  await row(page, empty.id).waitFor();
  await page.getByTestId('notes-source').selectOption('discord');
  await page.getByText('No notes match these filters').waitFor();
  await page.goBack();
  await row(page, empty.id).waitFor();
});

test('a text that was not captured is kept, and a refusal is explained', async () => {
  const tab = await visit('/notes');
  const { page } = tab;
  const field = page.getByTestId('capture-text');
  await field.fill('Half a thought');
  await page.reload();
  await eventually(() => field.inputValue()).toBe('Half a thought');
  await field.fill('x'.repeat(70_000));
  await page.getByText('is too long', { exact: false }).waitFor();
  await eventually(() => page.getByTestId('capture').isDisabled()).toBe(true);
  await field.fill('');
});

test('hostile text in notes and entities is shown as text', async () => {
  const note = await processed(server(), '<script>window.owned = 1</script> and [a link](javascript:window.owned=2)');
  const { page } = await visit(`/notes/${note.id}`);
  await page.getByTestId('note-entity').getByText('<img src=x onerror="window.owned=1">').waitFor();
  await eventually(() => page.getByTestId('note-text').innerText()).toContain('[a link](javascript:window.owned=2)');
  await eventually(() =>
    page.evaluate(() => ['owned' in window, document.querySelectorAll('main img, main script').length]),
  ).toEqual([false, 0]);
});

test('the analysis of a session is kept as a note, and its tasks appear on the session', async () => {
  const session = await server().submit();
  await server().waitUntilEnded(session);
  const tab = await visit(`/sessions/${session}`);
  const { page } = tab;
  await page.getByTestId('keep-note').click();
  await page.waitForURL(/\/notes\//);
  await page.getByTestId('note-entity').getByText('Raise the memory limit').waitFor();
  await page.getByText('About session').getByRole('link').click();
  await page.waitForURL(new RegExp(session));
  const card = page.getByTestId('session-notes');
  await card.getByTestId('session-entity').getByText('Raise the memory limit').waitFor();
  await page.getByTestId('open-note').waitFor();
  await eventually(() => page.getByTestId('keep-note').count()).toBe(0);
  await tab.expectAccessible();
});

test('an unknown note is reported', async () => {
  const tab = await visit('/notes/00000000-0000-7000-8000-000000000000');
  tab.tolerated = [/404/];
  await tab.page.getByRole('heading', { name: 'Note not found' }).waitFor();
  await tab.expectAccessible();
  await tab.page.getByRole('link', { name: 'Back to notes' }).click();
  await tab.page.getByTestId('capture-text').waitFor();
});

test('notes captured elsewhere appear without a reload', async () => {
  const { page } = await visit('/notes');
  await page.getByTestId('notes-list').waitFor();
  const id = await capture(server(), 'Nothing of interest from elsewhere.');
  await row(page, id).waitFor();
});
