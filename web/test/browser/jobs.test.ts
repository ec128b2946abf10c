import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { capture, extracts, organizes, processed, refusesToExtract, scriptOf } from '../kit/notes';
import { scenario } from '../kit/scenario';
import { plainScript } from '../kit/server';

/** Finds the jobs of a note. */
const jobOf = (page: Page, note: string) =>
  page.getByTestId('job').filter({ has: page.locator(`a[href="/notes/${note}"]`) });

describe('background jobs', () => {
  const { server, visit } = scenario({ script: scriptOf([refusesToExtract('an odd note')], plainScript) });

  test('a failed job shows its error and succeeds after a retry', async () => {
    const note = await processed(server(), 'This is an odd note.', 'failed');
    const tab = await visit('/system?tab=jobs&state=failed');
    const { page } = tab;
    const job = jobOf(page, note.id);
    await eventually(() => job.getByTestId('job-error').innerText()).toContain('does not fit the schema');
    await page.getByTestId('queue').filter({ hasText: 'notes-extract' }).waitFor();
    await tab.expectAccessible();

    await server().mock.play(
      scriptOf(
        [
          extracts('an odd note', [{ title: 'Look again', evidence: 'an odd note' }]),
          // A second note yields the same entity, a possible duplicate, and the model is asked about it.
          organizes('Look again', [{}]),
        ],
        plainScript,
      ),
    );
    await job.getByTestId('job-retry').click();
    await job.waitFor({ state: 'detached' });
    await page.getByTestId('jobs-state').selectOption('');
    await jobOf(page, note.id).filter({ hasText: 'Completed' }).first().waitFor();
    await eventually(
      async () => (await server().ask<{ status: string }>('GET', `/api/v1/notes/${note.id}`)).status,
    ).toBe('done');
  });

  test('a paused queue keeps its jobs until it is resumed', async () => {
    const { page } = await visit('/system?tab=jobs');
    const queue = page.getByTestId('queue').filter({ hasText: 'notes-extract' });
    await queue.getByTestId('queue-toggle').click();
    await queue.getByText('Paused').waitFor();
    const id = await capture(server(), 'This is an odd note, while the queue is paused.');
    await jobOf(page, id).filter({ hasText: 'Waiting' }).waitFor();
    await queue.getByRole('button', { name: 'Resume notes-extract' }).click();
    await jobOf(page, id).filter({ hasText: 'Completed' }).first().waitFor();
  });
});

describe('a read-only key', () => {
  const { server, visit } = scenario({ auth: true });

  test('shows everything and cannot change anything', async () => {
    const { key } = await server().ask<{ key: string }>('POST', '/api/v1/keys', { name: 'reader', scopes: ['read'] });
    const tab = await visit('/notes');
    const { page } = tab;
    await page.getByTestId('login-key').fill(key);
    await page.getByTestId('login-submit').click();
    await page.getByTestId('read-only-notice').waitFor();
    await eventually(() => page.getByTestId('capture-text').isDisabled()).toBe(true);
    await tab.expectAccessible();
    await page.goto(`${server().url}/board`);
    await page.getByTestId('read-only-notice').waitFor();
    expect(await readOnce(() => page.getByTestId('entity-new').count())).toBe(0);
    await page.goto(`${server().url}/system?tab=jobs`);
    await page.getByTestId('queue').first().waitFor();
    expect(await readOnce(() => page.getByTestId('queue-toggle').count())).toBe(0);
  });
});
