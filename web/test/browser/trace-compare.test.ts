/** Comparing a re-run with its original, and any two sessions. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { verdictRoute } from '../kit/verdict';

const call = (name: string) => `{name: cluster__${name}, arguments: {namespace: shop}}`;
const { server, visit } = scenario({
  verdict: true,
  script: `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies:
      - tool_calls: [${call('get_pods')}, ${call('get_log')}]
      - tool_calls: [${call('get_pods')}, ${call('get_pods')}, ${call('get_metrics')}]
      - tool_calls: [${call('get_pods')}]
  - when: {agent: Investigator}
    replies:
      - text: "First analysis: memory."
      - text: "Second analysis: disk."
      - text: "Third analysis: disk."
${verdictRoute('First analysis', { outcome: 'probable_cause', cause: 'The pod ran out of memory.' })}
${verdictRoute('analysis: disk', { outcome: 'cause_found', cause: 'The disk is full.' })}
  - when: {user: Summarize this analysis}
    replies: [{text: It is done., times: forever}]
mcp_servers:
  cluster:
    tools:
      - {name: get_pods, read_only: true, results: [{text: web-1}]}
      - {name: get_log, read_only: true, results: [{error: The log is gone.}]}
      - {name: get_metrics, read_only: true, results: [{text: "95"}]}
`,
});

const ids = { original: '', rerun: '', other: '' };

beforeAll(async () => {
  ids.original = await server().submit();
  expect(await server().waitUntilEnded(ids.original)).toBe('completed');
  const again = await server().ask<{ session_id: string }>('POST', `/api/v1/sessions/${ids.original}/rerun`);
  ids.rerun = again.session_id;
  expect(await server().waitUntilEnded(ids.rerun)).toBe('completed');
  ids.other = await server().submit('The pod web-2 crashes.');
  expect(await server().waitUntilEnded(ids.other)).toBe('completed');
});

const trace = (id: string, search = '') => `/sessions/${id}/trace${search}`;

/** Returns the cells of a row by its header. */
async function row(page: Page, part: string, name: string | RegExp): Promise<string[]> {
  const found = page
    .getByTestId(part)
    .getByRole('row')
    .filter({ has: page.getByRole('rowheader', { name }) });
  return (await found.getByRole('cell').allInnerTexts()).map((text) => text.trim());
}

test('a re-run is compared with its original: verdict, tools, cost, time and models', async () => {
  const tab = await visit(trace(ids.rerun));
  const { page } = tab;
  await page.getByTestId('compare').click();
  await page.getByTestId('compare-original').click();
  await page.waitForURL(new RegExp(`compare=${ids.original}`));
  await page.getByTestId('compare-verdict').waitFor();
  await eventually(() => page.getByTestId('compared-session').first().innerText()).toMatch(
    /^Original\s*Probable cause/,
  );
  await eventually(() => page.getByTestId('compared-session').last().innerText()).toMatch(/^Re-run\s*Cause found/);

  await eventually(() => row(page, 'compare-verdict', 'Outcome')).toEqual([
    'Probable cause',
    'Cause found',
    'different',
  ]);
  await eventually(() => row(page, 'compare-verdict', 'Cause')).toEqual([
    'The pod ran out of memory.',
    'The disk is full.',
    'different',
  ]);
  await eventually(() => row(page, 'compare-verdict', 'Confidence')).toEqual(['Medium', 'Medium', 'same']);
  await eventually(async () => (await row(page, 'compare-verdict', 'Next steps')).at(-1)).toBe('same');
  await eventually(() => row(page, 'compare-tools', 'get_pods')).toEqual(['1 call', '2 calls', '+1']);
  await eventually(() => row(page, 'compare-tools', 'get_log')).toEqual(['1 call, 1 failed', '–', 'only in original']);
  await eventually(() => row(page, 'compare-tools', 'get_metrics')).toEqual(['–', '1 call', 'only in re-run']);
  await eventually(() => row(page, 'compare-metrics', /^Tool calls/)).toEqual(['2', '3', '+1']);
  await eventually(() => row(page, 'compare-metrics', 'Models')).toEqual(['scripted-model', 'scripted-model', 'same']);
  await eventually(async () => (await row(page, 'compare-metrics', 'Cost'))[0]).toMatch(/^<?\$0\.0\d$/);
  await tab.expectAccessible();

  // A saved link shows the same comparison; opened from the original, it still has the original on the left.
  const other = await visit(trace(ids.original, `?compare=${ids.rerun}`));
  await other.page.getByTestId('compare-verdict').waitFor();
  await eventually(() => row(other.page, 'compare-verdict', 'Outcome')).toEqual([
    'Probable cause',
    'Cause found',
    'different',
  ]);
  await other.page.getByRole('button', { name: 'Close comparison' }).click();
  await other.page.getByTestId('waterfall').waitFor();
});

test('the menu and the dialog offer the original and the re-runs', async () => {
  const tab = await visit(trace(ids.original));
  const { page } = tab;
  const end = ids.rerun.slice(-12);
  await page.getByTestId('compare').click();
  expect(await readOnce(() => page.getByTestId('compare-original').count())).toBe(0);
  await page.getByRole('menuitem', { name: `With re-run ${end}` }).click();
  await page.waitForURL(new RegExp(`compare=${ids.rerun}`));
  await eventually(() => page.getByTestId('compared-session').last().innerText()).toMatch(/^Re-run/);

  await page.getByTestId('compare').click();
  await page.getByTestId('compare-session').click();
  const related = page.getByRole('region', { name: 'Original and re-runs' }).getByRole('button');
  await eventually(() => related.allInnerTexts()).toEqual([`Re-run ${end}`]);
  await tab.expectAccessible();
  // Each session is offered once, even though a re-run is similar to its original.
  const similar = page.getByRole('region', { name: 'Similar sessions' }).getByRole('button');
  await similar.first().waitFor();
  await eventually(() => similar.count()).toBe(1);
  await page.goto(server().url + trace(ids.rerun));
  await page.getByTestId('compare').click();
  await page.getByTestId('compare-session').click();
  await eventually(() => related.allInnerTexts()).toEqual([`Original session ${ids.original.slice(-12)}`]);
  await related.click();
  await page.waitForURL(new RegExp(`compare=${ids.original}`));
});

test('any two sessions are compared by id or link', async () => {
  const tab = await visit(trace(ids.other));
  const { page } = tab;
  await page.getByTestId('compare').click();
  expect(await readOnce(() => page.getByTestId('compare-original').count())).toBe(0);
  await page.getByTestId('compare-session').click();
  const dialog = page.getByRole('dialog');
  await page.getByTestId('compare-id').fill('nonsense');
  await dialog.getByRole('button', { name: 'Compare' }).click();
  await dialog.getByRole('alert').waitFor();
  await tab.expectAccessible();
  await page.getByTestId('compare-id').fill(`${server().url}/sessions/${ids.original}`);
  await page.keyboard.press('Enter');
  await page.getByTestId('compare-verdict').waitFor();
  await eventually(() => page.getByTestId('compared-session').first().innerText()).toMatch(/^Earlier session/);
  await eventually(async () => (await row(page, 'compare-tools', 'get_log')).at(-1)).toBe('only in earlier session');
});

test('an unknown session is reported', async () => {
  const tab = await visit(trace(ids.original, '?compare=019a0000-0000-7000-8000-000000000099'));
  tab.tolerated = [/status of 404/];
  await tab.page.getByRole('alert').getByText('session_not_found', { exact: false }).waitFor();
});

test.each([360, 768, 1280, 2560])('the comparison fits %i pixels', async (width) => {
  const { page } = await visit(trace(ids.rerun, `?compare=${ids.original}`), { viewport: { width, height: 900 } });
  await page.getByTestId('compare-tools').waitFor();
  const wide = () => page.getByTestId('session-comparison').evaluate((part) => part.scrollWidth - part.clientWidth);
  await eventually(wide).toBeLessThanOrEqual(0);
  const [card, table] = await Promise.all([
    page.getByTestId('compare-tools').boundingBox(),
    page.getByTestId('compare-tools').locator('table').boundingBox(),
  ]);
  expect((table?.width ?? 0) / (card?.width ?? 1)).toBeGreaterThan(0.98);
});
