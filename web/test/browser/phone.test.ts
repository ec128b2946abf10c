/** The session page on a phone: labelled, finger-sized actions, sheets over the page, and no horizontal scrolling. */
import { expect, test } from 'vitest';
import { verdictAnswer, verdictConfig, verdictScript } from '../kit/concluded';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({
  script: verdictScript(JSON.stringify(verdictAnswer)),
  config: verdictConfig,
  verdict: true,
});

const phone = { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true };

test('a session on a phone has 44 px actions, and sheets for evidence and chat', async () => {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const tab = await visit(`/sessions/${id}`, phone);
  const { page } = tab;
  await page.getByTestId('next-steps').waitFor();
  const sideways = () =>
    page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);
  await eventually(() => sideways()).toBe(false);

  const header = page.getByTestId('session-header');
  await eventually(() => header.getByRole('link', { name: 'Trace' }).isVisible()).toBe(false);
  await page.getByTestId('more-actions').tap();
  for (const name of ['Edit and resubmit', 'Trace']) await header.getByRole('link', { name }).waitFor();
  for (const name of ['Re-run', 'Less', 'Keep as note', 'Export', 'Copy link', 'Chat']) {
    const button = header.getByRole('button', { name, exact: true });
    // The label is visible, not only for screen readers.
    await eventually(() => button.getByText(name).or(button).first().innerText()).toContain(name);
  }
  const small = () =>
    header.evaluate((node) =>
      [...node.querySelectorAll<HTMLElement>('button[data-button], a[data-button]')]
        .map((each) => ({ name: each.innerText, ...each.getBoundingClientRect().toJSON() }))
        .filter(({ width, height }) => height < 44 || width < 44)
        .map(({ name, width, height }) => `${name}: ${width} × ${height}`),
    );
  await eventually(small).toEqual([]);
  const wordless = () =>
    header.evaluate(
      (node) =>
        [...node.querySelectorAll<HTMLElement>('[data-button]')].filter((each) => each.innerText.trim() === '').length,
    );
  await eventually(wordless).toBe(0);
  await eventually(() => sideways()).toBe(false);
  await tab.expectAccessible();
  await page.getByTestId('more-actions').tap();
  await eventually(() => page.getByTestId('session-actions').isVisible()).toBe(false);

  // The cause is visible without scrolling.
  await eventually(async () => {
    const cause = await page.getByTestId('verdict-cause').boundingBox();
    return (cause?.y ?? Number.NaN) + (cause?.height ?? 0);
  }).toBeLessThan(740 - 56);

  // The evidence and the chat cover the full width of the page and close with the back button.
  await page
    .getByTestId('verdict-cause')
    .getByRole('link', { name: /1\.1\.1/ })
    .tap();
  const sheet = page.getByRole('dialog');
  await sheet.waitFor();
  await eventually(async () => (await sheet.boundingBox())?.width).toBeGreaterThanOrEqual(358);
  await eventually(() => sideways()).toBe(false);
  await page.goBack();
  await sheet.waitFor({ state: 'detached' });
  await page.getByTestId('chat-open').tap();
  await sheet.waitFor();
  await eventually(async () => (await sheet.boundingBox())?.width).toBeGreaterThanOrEqual(358);
  await sheet.getByRole('button', { name: 'Close chat' }).tap();
  await sheet.waitFor({ state: 'detached' });
});

test('a running session on a phone is cancelled from its header', async () => {
  await server().mock.play(verdictScript(JSON.stringify(verdictAnswer), 'phone'));
  const id = await server().submit();
  const { page } = await visit(`/sessions/${id}`, phone);
  await server().mock.reached('phone');
  const cancel = page.getByTestId('cancel');
  await cancel.waitFor();
  await eventually(() => cancel.innerText()).toContain('Cancel');
  await eventually(async () => (await cancel.boundingBox())?.height).toBeGreaterThanOrEqual(44);
  await page.getByTestId('more-actions').tap();
  await page.getByTestId('rerun').getByText('Re-run').waitFor();
  await page.getByTestId('more-actions').tap();
  await cancel.tap();
  const answer = page.waitForResponse((response) => response.url().endsWith(`/sessions/${id}/cancel`));
  await page.getByTestId('confirm').tap();
  expect((await answer).ok()).toBe(true);
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await server().mock.open('phone');
  await server().waitUntilEnded(id);
});
