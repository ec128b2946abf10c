/** A page that scenarios share in turn keeps nothing of the previous scenario. */
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario();

test('a reused page has no state or listener of another scenario', async () => {
  const phone = { width: 360, height: 740 };
  const first = await visit('/', { viewport: phone, colorScheme: 'dark', permissions: ['clipboard-read'] });
  const { page } = first;
  await page.evaluate(() => {
    localStorage.setItem('left', 'here');
    sessionStorage.setItem('left', 'here');
  });
  await first.context.addCookies([{ name: 'left', value: 'here', url: server().url }]);
  const heard: string[] = [];
  page.on('request', (request) => heard.push(request.url()));
  await first.close();
  heard.length = 0;

  const second = await visit('/system');
  await page.getByRole('heading', { name: 'LLM providers' }).waitFor();
  expect(second.page).toBe(page);
  expect(heard).toEqual([]);
  const left = () =>
    page.evaluate(async () => ({
      stored: [localStorage.getItem('left'), sessionStorage.getItem('left')],
      cookie: document.cookie,
      width: innerWidth,
      dark: matchMedia('(prefers-color-scheme: dark)').matches,
      clipboard: (await navigator.permissions.query({ name: 'clipboard-read' as PermissionName })).state,
    }));
  expect(await readOnce(left)).toEqual({
    stored: [null, null],
    cookie: '',
    width: 1440,
    dark: false,
    clipboard: expect.not.stringMatching('granted'),
  });
});

test('a permanently changed page is not reused', async () => {
  const first = await visit('/');
  await first.page.addInitScript(() => Object.assign(window, { left: 'here' }));
  await first.close();
  const second = await visit('/');
  expect(second.page).not.toBe(first.page);
  await eventually(() => second.page.evaluate(() => 'left' in window)).toBe(false);
});
