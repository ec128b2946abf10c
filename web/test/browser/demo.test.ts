/** The demo as anyone would run it: one of its investigations, from its first event to its outcome. */
import { afterAll, beforeAll, test } from 'vitest';
import { sharedBrowser } from '../kit/browser';
import { Demo } from '../kit/demo';
import { eventually } from '../kit/expecting';
import { Tab } from '../kit/tab';
import { inSight, noteStatuses, status } from '../kit/timeline';

const stage = {
  url: '',
  demo: undefined as Demo | undefined,
};

beforeAll(async () => {
  stage.demo = await Demo.start(10);
  stage.url = stage.demo.url;
});

afterAll(async () => {
  await stage.demo?.stop();
});

test('a demo investigation runs live to an outcome with working citations', async () => {
  const tab = await Tab.open(await sharedBrowser(), stage.url);
  const { page } = tab;
  await page.goto(stage.url);
  const rows = page.getByTestId('session-row');
  await eventually(() => rows.count()).toBe(9);
  // Three parallel agents investigate this one.
  const example = rows.filter({ hasText: 'p99 latency of catalog-search' });
  await example.click();
  await status(page, 'completed').waitFor();

  // Re-run it, and watch this time from the start.
  const seen = await noteStatuses(page);
  const before = page.url();
  await page.getByTestId('rerun').click();
  await page.getByTestId('confirm').click();
  await page.waitForURL((url) => url.href !== before && url.pathname.startsWith('/sessions/'));
  await eventually(() => page.getByTestId('pane').count()).toBe(3);
  // The first status is the end of the previous session.
  await eventually(async () => (await seen()).slice(1).at(-1)).toBe('completed');

  // It was seen running before it was seen finished, without a reload.
  await eventually(() => seen()).toContain('in_progress');
  const summary = page.getByTestId('executive-summary');
  await summary.waitFor();
  await page.getByTestId('show-outcome').click();
  await eventually(() => inSight(page.getByTestId('verdict-cause'))).toBe(true);
  await eventually(async () => (await summary.innerText()).length).toBeGreaterThan(40);

  // Its statements can be checked: the first citation links to a tool's result.
  await page
    .getByTestId('outcome')
    .getByRole('link', { name: /^Tool call / })
    .first()
    .click();
  await page.getByTestId('evidence-row').click();
  const cited = page.locator('[data-testid=timeline-row][data-marked=true]');
  await eventually(() => inSight(cited)).toBe(true);
  await eventually(() => cited.getAttribute('data-open')).toBe('true');
  await eventually(() => cited.getAttribute('data-event-type')).toBe('llm_tool_call');
  await tab.close();
  tab.expectNoErrors();
});

test('the demo shows repeated, resolved and silenced alerts and a storm', async () => {
  const tab = await Tab.open(await sharedBrowser(), stage.url);
  const { page } = tab;
  await page.goto(stage.url);
  // The first scenario may have added sessions.
  const row = (title: string) => page.getByTestId('session-row').filter({ hasText: title });
  await eventually(() => row('checkout keeps being OOM-killed').getByTestId('alert-repeats').innerText()).toContain(
    '×3',
  );
  await row('batch-reports used up to 3.9 of 4 cores').getByTestId('alert-resolved').waitFor();

  const storm = row('namespace=media');
  await eventually(() => storm.getByTestId('alert-storm').innerText()).toBe('Storm of 6');
  await storm.click();
  await status(page, 'completed').waitFor();
  await eventually(() => page.getByTestId('executive-summary').innerText()).toContain(
    'All alerts of the storm have one cause: node-f',
  );

  await page.goto(`${stage.url}/alerts`);
  const silenced = page
    .getByTestId('suppressed-list')
    .getByRole('listitem')
    .filter({ hasText: 'Rollout of payments-api is not progressing' });
  await eventually(() => silenced.innerText()).toContain('payments-rollouts');
  await tab.close();
  tab.expectNoErrors();
});
