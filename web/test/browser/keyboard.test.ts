import { beforeAll, expect, test } from 'vitest';
import { everything, fill, places, type Sessions } from '../kit/everything';
import { eventually } from '../kit/expecting';
import { walk } from '../kit/keyboard';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario(everything);
let sessions: Sessions = { done: '', running: '', note: '', repeated: '', storm: '' };

beforeAll(async () => {
  sessions = await fill(server());
});

test.each(places)(
  'every control of $name is reachable by keyboard with a visible focus',
  async ({ address, ready }) => {
    const { page } = await visit(address(sessions));
    await ready(page);
    const { stops, unreached, unseen } = await walk(page);
    expect(stops).toBeGreaterThan(8);
    expect(unreached).toEqual([]);
    expect(unseen).toEqual([]);
  },
);

test('every control is reachable by keyboard on a narrow screen', async () => {
  const { page } = await visit('/', { viewport: { width: 360, height: 740 } });
  await page.getByTestId('session-row').first().waitFor();
  const { unreached, unseen } = await walk(page);
  expect(unreached).toEqual([]);
  expect(unseen).toEqual([]);
});

test('arrow keys move between the rows of a timeline', async () => {
  const { page } = await visit(`/sessions/${sessions.done}`);
  const pane = page.getByTestId('pane').first();
  const rows = pane.locator('[data-stop]');
  // The verdict and similar sessions are above it, and rows out of view are not mounted.
  await page.getByTestId(/^seen-before(-none)?$/).waitFor();
  await pane.scrollIntoViewIfNeeded();
  await rows.first().waitFor();
  const texts = await rows.allInnerTexts();
  const focused = () => page.evaluate(() => (document.activeElement as HTMLElement).innerText);
  await rows.and(page.locator('[tabindex="0"]')).focus();
  await page.keyboard.press('Home');
  await eventually(focused).toBe(texts[0]);
  for (const text of texts.slice(1)) {
    await page.keyboard.press('ArrowDown');
    await eventually(focused).toBe(text);
    // A pane may extend past the window, but the focused row is visible.
    await eventually(() =>
      page.evaluate(() => (document.activeElement?.getBoundingClientRect().bottom ?? 0) <= innerHeight),
    ).toBe(true);
  }
});
