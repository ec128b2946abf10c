import { beforeAll, expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario();
let session = '';

beforeAll(async () => {
  session = await server().submit('The turbine of hall seven hums.');
  await server().waitUntilEnded(session);
});

test('Ctrl+K opens pages, and Escape restores the focus', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.locator(`[data-session-id="${session}"]`).focus();
  await page.keyboard.press('Control+k');
  const palette = page.getByTestId('palette');
  await palette.waitFor();
  await tab.expectAccessible();
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'detached' });
  await eventually(() => page.evaluate(() => (document.activeElement as HTMLElement).dataset.sessionId)).toBe(session);

  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.type('system hea');
  await palette.getByRole('option', { name: /^System: Health/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
  await eventually(() => palette.count()).toBe(0);

  // The same by pointer.
  await page.getByTestId('palette-open').click();
  await palette.getByRole('option', { name: /^Submit/ }).click();
  await page.getByRole('heading', { level: 1, name: 'New alert' }).waitFor();
});

test('keys typed while the palette loads trigger no shortcut', async () => {
  const { page } = await visit('/');
  let load = () => {};
  const loading = new Promise<void>((resolve) => {
    load = resolve;
  });
  let asked = false;
  await page.route(/assets\/palette-.*\.js/, async (route) => {
    asked = true;
    await loading;
    await route.continue();
  });
  await page.reload();
  await page.locator(`[data-session-id="${session}"]`).waitFor();
  await page.keyboard.press('Control+k');
  await eventually(() => asked).toBe(true);
  // Each of these letters is a shortcut on this page, and "g s" goes to another page.
  await page.keyboard.type('jx?gsystem');
  load();
  await eventually(() => page.getByRole('combobox').inputValue()).toBe('jx?gsystem');
  await page.keyboard.type('s');
  await eventually(() => page.getByRole('combobox').inputValue()).toBe('jx?gsystems');
  expect(new URL(page.url()).pathname).toBe('/');
});

test('sessions are found by text and by id', async () => {
  const { page } = await visit('/system');
  const palette = page.getByTestId('palette');
  const system = page.getByRole('heading', { level: 1, name: 'System' });
  await system.waitFor();
  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.type('turbine');
  const found = palette.getByRole('group', { name: 'Sessions' }).getByRole('option');
  await found.waitFor();
  await eventually(() => found.innerText()).toContain('Out of memory.');
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(session));
  await page.getByTestId('outcome').waitFor();

  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.type('nothing-has-this');
  await palette.getByText('No sessions match “nothing-has-this”.').waitFor();

  await page.keyboard.press('Escape');
  await page.goto(`${server().url}/system`);
  await system.waitFor();
  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.insertText(`${server().url}/sessions/${session}`);
  await palette.getByRole('option', { name: `Open session ${session}` }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(new RegExp(session));
});

test('the palette offers the commands of the page', async () => {
  const { page } = await visit('/');
  const palette = page.getByTestId('palette');
  await page.getByTestId('sessions-list').waitFor();
  await page.keyboard.press('Control+k');
  await palette.getByRole('group', { name: 'On this page' }).getByRole('option', { name: 'Newest first' }).click();
  await page.waitForURL(/order=newest/);

  await page.goto(`${server().url}/sessions/${session}`);
  await page.getByTestId('outcome').waitFor();
  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.type('trace');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/trace$/);
  await page.getByTestId('waterfall').waitFor();

  await page.goBack();
  await page.getByTestId('outcome').waitFor();
  await page.keyboard.press('Control+k');
  await palette.waitFor();
  await page.keyboard.type('again');
  await page.keyboard.press('Enter');
  await page.getByTestId('confirm').waitFor();
});

test('g s, g n and g y open pages, and ? lists the shortcuts', async () => {
  const tab = await visit('/');
  const { page } = tab;
  await page.getByTestId('sessions-list').waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('y');
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await page.getByRole('heading', { level: 1, name: 'New alert' }).waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('s');
  await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
  await page.getByTestId('sessions-list').waitFor();

  await page.keyboard.press('?');
  const help = page.getByTestId('keyboard-help');
  await help.waitFor();
  const text = () => help.innerText();
  for (const line of ['Search and commands', 'Go to Submit', 'Next session', 'Previous session', 'Open session'])
    await eventually(text).toContain(line);
  await tab.expectAccessible();
});

test('single-key shortcuts can be turned off, and stay off', async () => {
  const { page } = await visit('/system');
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
  await page.keyboard.press('?');
  await page.getByTestId('single-keys').uncheck();
  await page.keyboard.press('Escape');
  await page.getByTestId('keyboard-help').waitFor({ state: 'detached' });

  const silent = async () => {
    await page.keyboard.press('g');
    await page.keyboard.press('n');
    await page.keyboard.press('?');
    // Shortcuts with ⌘ or Ctrl still work. This one comes last, so the keys above have had their chance to act.
    await page.keyboard.press('Control+k');
    await page.getByTestId('palette').waitFor();
    await eventually(() => new URL(page.url()).pathname).toBe('/system');
    expect(await readOnce(() => page.getByTestId('keyboard-help').count())).toBe(0);
    await page.keyboard.press('Escape');
    await page.getByTestId('palette').waitFor({ state: 'detached' });
  };
  await silent();
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'System' }).waitFor();
  await silent();

  await page.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await page.getByTestId('single-keys').check();
  await page.keyboard.press('Escape');
  await page.getByTestId('keyboard-help').waitFor({ state: 'detached' });
  await page.keyboard.press('g');
  await page.keyboard.press('n');
  await page.waitForURL(/\/submit$/);
});
