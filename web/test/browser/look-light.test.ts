import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { definePageTests, expectNoAnimations } from '../kit/look';

const { visit, sessions } = definePageTests('light', [360, 1440]);

test('nothing is animated with reduced motion', async () => {
  const { page } = await visit(`/sessions/${sessions.running}`, { reducedMotion: 'no-preference' });
  await page.getByTestId('now').waitFor();
  // Something must move, or the test would not show that motion is reduced.
  await eventually(() => page.evaluate(() => document.getAnimations().length)).toBeGreaterThan(0);
  await page.emulateMedia({ reducedMotion: 'reduce' });
  await expectNoAnimations(page);
});

test('a new theme is complete in the next frame with reduced motion', async () => {
  const { page } = await visit('/', { colorScheme: 'light', reducedMotion: 'reduce' });
  const title = page.getByTestId('session-row').first().locator('.font-semibold');
  await title.waitFor();
  await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' });
  const colours = await title.evaluate(async (element) => {
    await new Promise(requestAnimationFrame);
    const probe = document.createElement('span');
    probe.style.color = 'var(--ink)';
    document.body.append(probe);
    const wanted = getComputedStyle(probe).color;
    probe.remove();
    return { shown: getComputedStyle(element).color, wanted };
  });
  expect(colours.shown).toBe(colours.wanted);
});
