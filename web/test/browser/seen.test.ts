/** Similar past sessions on the page of a session, with feedback on their verdicts. */
import { expect, test } from 'vitest';
import { verdictAnswer, verdictConfig, verdictScript } from '../kit/concluded';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { status } from '../kit/timeline';

const { server, visit } = scenario({
  script: verdictScript(JSON.stringify(verdictAnswer)),
  config: verdictConfig,
  verdict: true,
});

/** Runs a session of the same alert to its end, with a verdict that names this cause. */
async function concluded(cause: string, data: unknown = 'The pod web-1 crashes.'): Promise<string> {
  await server().mock.play(verdictScript(JSON.stringify({ ...verdictAnswer, cause })));
  const id = await server().submit(data);
  expect(await server().waitUntilEnded(id)).toBe('completed');
  return id;
}

const rate = (id: string, rating: string, real_cause = '') =>
  server().ask('PUT', `/api/v1/sessions/${id}/feedback`, { rating, why: '', real_cause });

const labels = { alertname: 'SlowCheckout', namespace: 'shop', service: 'checkout', team: 'payments' };

test('similar sessions are listed with verdicts; those rated wrong are not facts', async () => {
  const plain = await concluded('The limit of `web-1` is **too low** [call 1.1.1].');
  const right = await concluded('The node is out of memory.');
  const wrong = await concluded('The cache leaks.');
  const denied = await concluded('The disk is full.');
  await rate(right, 'right');
  await rate(wrong, 'wrong', 'An expired certificate.');
  await rate(denied, 'wrong');

  const gate = 'seen';
  await server().mock.play(verdictScript(JSON.stringify(verdictAnswer), gate));
  const id = await server().submit();
  const tab = await visit(`/sessions/${id}`, { viewport: { width: 1280, height: 500 } });
  const { page } = tab;
  // Visible while the session still runs, when people need it.
  await server().mock.reached(gate);
  const card = page.getByTestId('seen-before');
  await card.waitFor();
  const row = (past: string) =>
    page.getByTestId('past-session').filter({ has: page.locator(`a[href="/sessions/${past}"]`) });
  await eventually(() => page.getByTestId('past-session').count()).toBe(4);

  await eventually(() => row(plain).innerText()).toContain('Cause found');
  await eventually(() => row(plain).getByTestId('past-cause').innerText()).toBe('The limit of web-1 is too low.');
  await eventually(() => row(plain).getByTestId('past-reason').innerText()).toBe('Same alert');
  await eventually(() => row(plain).innerText()).toContain('High confidence');
  await eventually(() => row(plain).locator('time').first().getAttribute('datetime')).toMatch(/^20\d\d-/);
  await eventually(() => row(right).innerText()).toMatch(
    /Cause found[\s\S]*Rated right[\s\S]*The node is out of memory\./,
  );

  await eventually(() => row(wrong).innerText()).toContain('Marked wrong');
  await eventually(() => row(wrong).getByTestId('past-cause').innerText()).toBe('Real cause: An expired certificate.');
  await eventually(() => row(denied).innerText()).toContain('Nobody has named the real cause.');
  for (const each of [row(wrong), row(denied)])
    expect(await readOnce(() => each.innerText())).not.toMatch(/Cause found|confidence/);
  expect(await readOnce(() => card.innerText())).not.toMatch(/The cache leaks|The disk is full/);

  // The header links to it from the end of the timeline, which the page follows.
  await page.getByTestId('seen-before-link').click();
  await eventually(() => page.evaluate(() => document.activeElement?.textContent)).toBe('Seen before');
  await eventually(() => card.evaluate((node) => node.getBoundingClientRect().top < innerHeight - 60)).toBe(true);
  await tab.expectAccessible();

  // Once the session is over, it is below the verdict and the analysis.
  await server().mock.open(gate);
  await status(page, 'completed').waitFor();
  await page.getByTestId('verdict').waitFor();
  const top = (testId: string) =>
    page.getByTestId(testId).evaluate((node) => node.getBoundingClientRect().top + scrollY);
  await eventually(async () => {
    const [verdict, analysis, seen] = [await top('verdict'), await top('analysis'), await top('seen-before')];
    return verdict < analysis && analysis < seen;
  }).toBe(true);
  await row(wrong).getByRole('link').click();
  await page.waitForURL(`**/sessions/${wrong}`);
  await eventually(() => page.getByTestId('verdict-cause').innerText()).toContain('The cache leaks.');
});

test('sessions with similar labels list the shared labels', async () => {
  const past = await concluded('The pool is exhausted.', {
    labels: { ...labels, pod: 'checkout-1' },
    annotations: { summary: 'Slow' },
  });
  await rate(past, 'partly', 'A lock in the database.');
  const id = await concluded('The same.', {
    labels: { ...labels, pod: 'checkout-2' },
    annotations: { summary: 'Slow' },
  });
  const { page } = await visit(`/sessions/${id}`);
  const row = page.getByTestId('past-session');
  await row.first().waitFor();
  await eventually(() => row.count()).toBe(1);
  const reason = () => row.getByTestId('past-reason').innerText();
  await eventually(reason).toMatch(/^Similar labels: /);
  await eventually(reason).toContain('service=checkout');
  await eventually(reason).not.toContain('pod=');
  await eventually(() => row.getByTestId('past-cause').innerText()).toMatch(
    /The pool is exhausted\.\s+Real cause: A lock in the database\./,
  );
  await eventually(() => row.innerText()).toContain('Rated partly right');
});

test('a session without similar ones has one line, and the page does not wait', async () => {
  const id = await concluded('A typo.', 'Certificate rotation stopped: issuer unreachable');
  const { page } = await visit('/');
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route('**/similar*', async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(`${server().url}/sessions/${id}`);
  await page.getByTestId('next-steps').waitFor();
  await page.getByTestId('final-analysis').waitFor();
  expect(await readOnce(() => page.getByTestId('seen-before-none').count())).toBe(0);
  release();
  await page.getByTestId('seen-before-none').waitFor();
  expect(await readOnce(() => page.getByTestId('seen-before').count())).toBe(0);
  expect(await readOnce(() => page.getByTestId('seen-before-link').isVisible())).toBe(false);
});
