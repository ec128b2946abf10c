import { expect, test } from 'vitest';
import { expectStill, looksRight } from '../kit/look';

const { visit, sessions } = looksRight('light', [360, 1440]);

test('what moves does so only for those who want it', async () => {
  const { page } = await visit(`/sessions/${sessions.running}`);
  await page.getByTestId('now').waitFor();
  // Nothing would show that motion can be reduced if nothing moved.
  expect(await page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expectStill(page);
});
