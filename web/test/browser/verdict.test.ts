/** The verdict of a session: what its card shows and omits, and how it appears to someone watching. */
import { expect, test } from 'vitest';
import { verdictAnswer, verdictConfig, verdictScript } from '../kit/concluded';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { callRow, scroller, status } from '../kit/timeline';

const { server, visit } = scenario({
  script: verdictScript(JSON.stringify(verdictAnswer), 'verdict'),
  config: verdictConfig,
  verdict: true,
});

/** Runs a session to its end with the given verdict. */
async function concluded(answer: object | string): Promise<string> {
  await server().mock.play(verdictScript(typeof answer === 'string' ? answer : JSON.stringify(answer)));
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  return id;
}

test('the verdict comes first, with steps to tick and commands to copy', async () => {
  const id = await concluded(verdictAnswer);
  const tab = await visit(`/sessions/${id}`, { permissions: ['clipboard-read', 'clipboard-write'] });
  const { page } = tab;
  const card = page.getByTestId('verdict');
  await card.waitFor();
  await eventually(() => card.getAttribute('data-outcome')).toBe('cause_found');
  await status(page, 'completed').getByText('Cause found').waitFor();
  await eventually(() => page.getByTestId('verdict-cause').innerText()).toContain('The memory limit of web (256 MiB)');
  await eventually(() => page.getByTestId('verdict-confidence').innerText()).toBe('High confidence');
  await eventually(() => page.getByTestId('verdict-reason').innerText()).toContain('Events and log agree');
  await eventually(() => page.getByTestId('verdict-impact').innerText()).toContain('1 of 3 requests');
  await eventually(() => page.getByTestId('not-checked').locator('li').count()).toBe(2);

  // Nothing is behind a button, and the analysis comes after the verdict.
  const cut = () =>
    card.evaluate(
      (node) =>
        [...node.querySelectorAll('*')].filter(
          (each) =>
            each.clientHeight > 1 &&
            each.scrollHeight > each.clientHeight + 8 &&
            getComputedStyle(each).overflowY === 'hidden',
        ).length,
    );
  await eventually(cut).toBe(0);
  expect(await readOnce(() => card.getByRole('button', { name: /show/i }).count())).toBe(0);
  const analysis = page.getByTestId('analysis');
  await eventually(async () => {
    const [above, below] = [await card.boundingBox(), await analysis.boundingBox()];
    return (below?.y ?? Number.NaN) - (above?.y ?? 0) - (above?.height ?? 0);
  }).toBeGreaterThanOrEqual(0);

  // The summary appears once.
  await eventually(() => page.getByTestId('executive-summary').innerText()).toContain('The limit of web is too low.');
  await eventually(() => page.getByTestId('outcome').getByText('The limit of web is too low.').count()).toBe(1);

  // A citation of an unknown call is struck through, in the verdict and in the analysis.
  await eventually(() => page.getByTestId('not-checked').locator('s').innerText()).toBe('9.9.9');

  const steps = page.getByTestId('next-step');
  await eventually(() => steps.count()).toBe(3);
  await eventually(() => steps.nth(0).getByTestId('step-risk').innerText()).toMatch(/Low risk\s+Reversible/);
  await eventually(() => steps.nth(1).getByTestId('step-risk').innerText()).toMatch(/High risk\s+Cannot be undone/);
  await eventually(() => steps.nth(2).getByTestId('step-risk').innerText()).toBe('No risk');
  const link = steps.nth(1).getByRole('link', { name: 'https://runbooks.example.com/replicasets' });
  await eventually(() => link.getAttribute('rel')).toBe('noopener noreferrer nofollow');

  await steps.nth(0).getByRole('button', { name: 'Copy command of step 1' }).click();
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toBe(
    'kubectl -n shop set resources deployment/web --limits=memory=512Mi',
  );
  await card.getByRole('button', { name: 'Copy verdict' }).click();
  await eventually(() => page.evaluate(() => navigator.clipboard.readText())).toContain(
    '1. Raise the memory limit of web to 512 MiB (low risk)',
  );

  // Ticks are stored in this browser; by keyboard too.
  await steps.nth(1).getByRole('checkbox').focus();
  await page.keyboard.press('Space');
  await eventually(() => steps.nth(1).getAttribute('data-done')).toBe('true');
  await page.reload();
  await eventually(() => steps.nth(1).getAttribute('data-done')).toBe('true');
  await eventually(() => steps.nth(0).getAttribute('data-done')).toBe('false');
  await eventually(() => card.innerText()).toContain('Ticks are kept in this browser only.');
  await tab.expectAccessible();
});

test.each([
  ['probable_cause', 'Probable cause', 'web leaks'],
  ['inconclusive', 'Inconclusive', ''],
  ['false_alarm', 'False alarm', ''],
  ['needs_human', 'Needs a person', ''],
])('the outcome %s is shown as: %s', async (outcome, word, cause) => {
  const id = await concluded({
    ...verdictAnswer,
    ...{ outcome, cause, impact: '', next_steps: [], not_checked: [] },
  });
  const { page } = await visit(`/sessions/${id}`);
  const card = page.getByTestId('verdict');
  await card.getByText(word, { exact: true }).waitFor();
  await eventually(() => page.getByTestId('session-header').innerText()).toContain(word);
  await eventually(() => page.getByTestId('verdict-cause').innerText()).not.toBe('');
  expect(await readOnce(() => page.getByTestId('next-steps').count())).toBe(0);
});

test('a session without a verdict shows summary, analysis and the reason', async () => {
  const id = await concluded('no JSON at all');
  const { page } = await visit(`/sessions/${id}`);
  await page.getByTestId('verdict-error').waitFor();
  expect(await readOnce(() => page.getByTestId('verdict').count())).toBe(0);
  await eventually(() => page.getByTestId('executive-summary').innerText()).toBe('The limit of web is too low.');
  await status(page, 'completed').getByText('Completed').waitFor();
});

test.each([
  ['above the timeline', 1280],
  ['in a column', 1920],
])('the verdict appears %s without moving the reader or closing rows', async (_, width) => {
  const { mock } = server();
  const gate = `verdict-${width}`;
  await mock.play(verdictScript(JSON.stringify(verdictAnswer), gate));
  const id = await server().submit();
  const { page } = await visit(`/sessions/${id}`, { viewport: { width, height: 500 } });
  await mock.reached(gate);
  const call = callRow(page, '1.1.2');
  await call.waitFor();
  await call.getByRole('button').first().click();
  await eventually(() => call.getAttribute('data-open')).toBe('true');
  await call.scrollIntoViewIfNeeded();
  // Scrolling up slightly stops the list from following its end.
  await scroller(page).hover();
  await page.mouse.wheel(0, -30);
  await eventually(() => page.getByTestId('timeline').getAttribute('data-following')).toBe('false');
  const top = (await call.boundingBox())?.y ?? Number.NaN;

  await mock.open(gate);
  await page.getByTestId('verdict').waitFor({ state: 'attached' });
  await page.getByTestId('next-steps').waitFor({ state: 'attached' });
  await status(page, 'completed').waitFor();
  await eventually(() => call.getAttribute('data-open')).toBe('true');
  await eventually(async () => Math.abs(((await call.boundingBox())?.y ?? Number.NaN) - top)).toBeLessThan(60);
  if (width < 1800) {
    await page.getByTestId('show-outcome').click();
    await eventually(() => page.getByTestId('verdict').evaluate((node) => node.getBoundingClientRect().top >= 0)).toBe(
      true,
    );
  }
});

test('a notification appears when the session ends, if allowed', async () => {
  const { mock } = server();
  await mock.play(verdictScript(JSON.stringify(verdictAnswer), 'notified'));
  const id = await server().submit();
  const { page } = await visit('/');
  // The browser's permission dialog and the desktop notification are outside of the page, so they are recorded here.
  await page.addInitScript(() => {
    const log: string[] = [];
    class Recorded {
      static permission = 'default';
      static requestPermission() {
        log.push('asked');
        Recorded.permission = 'granted';
        return Promise.resolve('granted');
      }
      constructor(title: string, options: { body: string }) {
        log.push(`${title} | ${options.body}`);
      }
    }
    Object.assign(window, { Notification: Recorded, notified: log });
    Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' });
  });
  await page.goto(`${server().url}/sessions/${id}`);
  const log = () => page.evaluate(() => (window as unknown as { notified: string[] }).notified);
  await mock.reached('notified');
  const notify = page.getByRole('switch', { name: /Notify me/ });
  await notify.waitFor();
  await eventually(() => notify.getAttribute('aria-checked')).toBe('false');
  expect(await readOnce(() => log())).toEqual([]);
  await notify.click();
  await eventually(() => notify.getAttribute('aria-checked')).toBe('true');
  await mock.open('notified');
  await status(page, 'completed').waitFor();
  await eventually(log).toEqual([
    'asked',
    'Cause found: The pod web-1 crashes. | The memory limit of web (256 MiB) is below what release 1.4 needs.',
  ]);
});
