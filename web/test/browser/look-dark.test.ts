import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { definePageTests } from '../kit/look';

const { server, visit } = definePageTests('dark', [768, 2560]);

test('the chosen theme is stored and applied before the first paint', async () => {
  const tab = await visit('/', { colorScheme: 'light' });
  const { page } = tab;
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await eventually(() => theme()).toBe('light');
  await page.getByTestId('theme-switch').click();
  await page.getByRole('menuitemradio', { name: 'Dark' }).click();
  await eventually(() => theme()).toBe('dark');

  // Records every theme set while the page loads, and whether there was a body to render by then.
  await page.addInitScript(() => {
    const seen: string[] = [];
    Object.assign(window, { seen });
    new MutationObserver(() =>
      seen.push(`${document.documentElement.dataset.theme} ${document.body === null ? 'early' : 'late'}`),
    ).observe(document, { attributes: true, subtree: true, attributeFilter: ['data-theme'] });
  });
  await page.reload();
  await page.getByTestId('sessions-list').waitFor();
  await eventually(() => page.evaluate(() => Reflect.get(window, 'seen') as string[])).toEqual(
    expect.arrayContaining(['dark early']),
  );
  expect(
    await readOnce(() =>
      page.evaluate(() => (Reflect.get(window, 'seen') as string[]).filter((one) => !one.startsWith('dark'))),
    ),
  ).toEqual([]);
  await eventually(() => theme()).toBe('dark');

  // Other tabs follow the choice, and "System" follows the operating system.
  const other = await tab.context.newPage();
  await other.goto(`${server().url}/system`);
  await other.getByTestId('theme-switch').click();
  await other.getByRole('menuitemradio', { name: 'System' }).click();
  await eventually(theme).toBe('light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await eventually(theme).toBe('dark');
});
