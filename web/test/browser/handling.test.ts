/** Handling a session: acknowledge, resolve, assign and tag it, immediately visible to others. */
import { describe, expect, test } from 'vitest';
import { eventually, stored } from '../kit/expecting';
import { openFilters } from '../kit/filters';
import { scenario } from '../kit/scenario';

interface Handled {
  state: string;
  assignee: string;
  resolution: string;
  tags: string[];
}

const sizes = [
  [360, 'dark'],
  [768, 'light'],
  [1280, 'dark'],
] as const;

describe('with the write scope', () => {
  const { server, visit } = scenario();

  test('a session is acknowledged, assigned, tagged, resolved and reopened live', async () => {
    const id = await server().submit();
    expect(await server().waitUntilEnded(id)).toBe('completed');
    const handled = () => server().ask<Handled>('GET', `/api/v1/sessions/${id}/handling`);
    const tab = await visit(`/sessions/${id}`, { viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce' });
    const other = await visit(`/sessions/${id}`);
    const list = await visit('/', { reducedMotion: 'reduce' });
    const { page } = tab;
    const state = page.getByTestId('handling-state');
    const seen = other.page.getByTestId('handling-panel');
    const row = list.page.locator(`[data-session-id="${id}"]`);
    await state.getByText('Open').waitFor();
    await row.waitFor();

    await page.getByTestId('handling-acknowledge').click();
    await state.getByText('Acknowledged').waitFor();
    await seen.getByText('Acknowledged').waitFor();
    await row.getByText('Acknowledged').waitFor();

    // By keyboard too: the field has the focus, and Enter assigns.
    await page.getByTestId('handling-assign').focus();
    await page.keyboard.press('Enter');
    await page.getByTestId('assign-name').waitFor();
    await page.keyboard.type('<b>Bob</b>');
    await tab.expectAccessible();
    await page.keyboard.press('Enter');
    await seen.getByText('<b>Bob</b>').waitFor();
    await row.getByText('<b>Bob</b>').waitFor();

    await page.getByTestId('handling-tags').click();
    for (const tag of ['capacity', 'Needs review', 'CAPACITY']) {
      await page.getByTestId('tag-name').fill(tag);
      await page.keyboard.press('Enter');
    }
    await page.getByRole('button', { name: 'Remove tag capacity' }).waitFor();
    await tab.expectAccessible();
    await page.getByTestId('tags-submit').click();
    await seen.getByText('Needs review').waitFor();
    await row.getByText('capacity').waitFor();
    expect(await stored(handled())).toMatchObject({ assignee: '<b>Bob</b>', tags: ['capacity', 'Needs review'] });

    await page.getByTestId('handling-resolve').click();
    await page.getByLabel('What resolved it').fill('Raised the limit.\nWatch it.');
    await tab.expectAccessible();
    await page.getByTestId('resolve-submit').click();
    await state.getByText('Resolved').waitFor();
    await seen.getByText('Raised the limit.').waitFor();
    await row.getByText('Resolved').waitFor();
    expect(await stored(handled())).toMatchObject({ state: 'resolved', resolution: 'Raised the limit.\nWatch it.' });

    for (const [width, colorScheme] of sizes) {
      for (const each of [tab, list]) {
        await each.page.setViewportSize({ width, height: 900 });
        await each.page.emulateMedia({ colorScheme });
        const sideways = () =>
          each.page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
        await eventually(sideways, `at ${width} px`).toBe(false);
        await each.expectAccessible();
      }
    }

    await page.getByTestId('handling-reopen').click();
    await state.getByText('Open').waitFor();
    await eventually(() => seen.getByTestId('handling-resolution').count()).toBe(0);
    await eventually(() => row.getByText('Resolved').count()).toBe(0);
    expect(await stored(handled())).toMatchObject({ state: 'open', resolution: '' });
  });

  test('a second click in the same place triggers no other action', async () => {
    const id = await server().submit();
    await server().waitUntilEnded(id);
    const handled = () => server().ask<Handled>('GET', `/api/v1/sessions/${id}/handling`);
    await server().ask('PATCH', `/api/v1/sessions/${id}/handling`, { state: 'acknowledged' });
    const { page } = await visit(`/sessions/${id}`);
    await page.getByTestId('handling-reopen').waitFor();
    const take = await page.getByTestId('handling-take').boundingBox();
    if (take === null) throw new Error('there is no button to assign');
    const [x, y] = [take.x + take.width / 2, take.y + take.height / 2];

    await page.mouse.dblclick(x, y);
    await page.getByTestId('handling-assignee').waitFor();
    await page.mouse.click(x, y);
    await eventually(() => page.getByTestId('handling-take').count()).toBe(0);
    expect((await stored(handled())).state).toBe('acknowledged');

    await server().ask('PATCH', `/api/v1/sessions/${id}/handling`, { state: 'resolved', assignee: '' });

    // An x between digits is not a multiplication sign.
    const ligatures = () => page.evaluate(() => getComputedStyle(document.body).fontVariantLigatures);
    await eventually(ligatures).toBe('no-contextual');
  });

  test('a session is handled on a phone and from the palette', async () => {
    const id = await server().submit();
    expect(await server().waitUntilEnded(id)).toBe('completed');
    const tab = await visit(`/sessions/${id}`, {
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
      reducedMotion: 'reduce',
    });
    const { page } = tab;
    await page.getByTestId('handling-menu').tap();
    await page.getByTestId('handling-acknowledge').tap();
    await page.getByTestId('handling-state').getByText('Acknowledged').waitFor();
    await page.keyboard.press('Control+k');
    const palette = page.getByTestId('palette');
    await palette.waitFor();
    await page.keyboard.type('Resolve this session');
    await palette.getByRole('option', { name: 'Resolve this session' }).tap();
    await page.getByTestId('resolve-submit').tap();
    await page.getByTestId('handling-state').getByText('Resolved').waitFor();
    await tab.expectAccessible();
  });

  test('the list is filtered by state, assignee and tag', async () => {
    const [first, second] = [await server().submit(), await server().submit()];
    for (const id of [first, second]) expect(await server().waitUntilEnded(id)).toBe('completed');
    await server().ask('PATCH', `/api/v1/sessions/${first}/handling`, {
      state: 'acknowledged',
      assignee: 'me',
      tags: { add: ['only here'] },
    });
    const { page } = await visit('/?handling=acknowledged', { viewport: { width: 1280, height: 900 } });
    await page.locator(`[data-session-id="${first}"]`).waitFor();
    await eventually(() => page.locator(`[data-session-id="${second}"]`).count()).toBe(0);
    await page.getByTestId('filter-clear').click();
    await page.locator(`[data-session-id="${second}"]`).waitFor();
    for (const [filter, value] of [
      ['tag', 'only here'],
      ['assignee', 'me'],
    ]) {
      await openFilters(page);
      await page.getByTestId(`filter-${filter}`).selectOption(value as string);
      await eventually(() => page.getByTestId('session-row').count()).toBe(1);
      await eventually(() => page.url()).toContain(`${filter}=`);
      await page.getByTestId('filter-clear').click();
      await page.locator(`[data-session-id="${second}"]`).waitFor();
    }
  });
});

describe('with the read scope only', () => {
  const { server, visit } = scenario({ auth: true });

  test('the handling is visible and cannot be changed', async () => {
    const id = await server().submit();
    expect(await server().waitUntilEnded(id)).toBe('completed');
    await server().ask('PATCH', `/api/v1/sessions/${id}/handling`, { state: 'resolved', tags: { add: ['done'] } });
    const { key } = await server().ask<{ key: string }>('POST', '/api/v1/keys', { name: 'reader', scopes: ['read'] });
    const { page } = await visit(`/sessions/${id}`);
    await page.getByTestId('login-key').fill(key);
    await page.getByTestId('login-submit').click();
    const panel = page.getByTestId('handling-panel');
    await panel.getByText('Resolved').waitFor();
    await panel.getByText('done').waitFor();
    await eventually(() => panel.getByRole('button').count()).toBe(0);
  });
});
