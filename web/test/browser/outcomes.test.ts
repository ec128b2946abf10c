/** The list shows the outcome and the cause of each session. */
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { openFilters } from '../kit/filters';
import { scenario } from '../kit/scenario';
import { verdictRoute } from '../kit/verdict';

const verdicts = {
  cause_found: { word: 'Cause found', cause: 'The image tag of billing does not exist' },
  probable_cause: { word: 'Probable cause', cause: 'The cache of web evicts too early' },
  inconclusive: { word: 'Inconclusive', cause: '' },
  false_alarm: { word: 'False alarm', cause: 'The probe was slower than its limit' },
  needs_human: { word: 'Needs a person', cause: '' },
} as const;
type Kind = keyof typeof verdicts;
const kinds = Object.keys(verdicts) as Kind[];

const { server, visit } = scenario({
  verdict: true,
  script: `
version: 1
routes:
${kinds.map((kind) => verdictRoute(`Analysis of ${kind}`, { outcome: kind, cause: verdicts[kind].cause })).join('\n')}
${kinds.map((kind) => `  - {when: {agent: Investigator, user: alert of ${kind}}, replies: [{text: Analysis of ${kind}., times: forever}]}`).join('\n')}
  - {when: {agent: Investigator}, replies: [{text: Analysis without a verdict., times: forever}]}
  - {when: {user: Summarize this analysis}, replies: [{text: A summary of the analysis., times: forever}]}
mcp_servers: {cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}}
`,
  config: `
agents:
  Investigator: {mcp_servers: [cluster]}
agent_chains:
  plain:
    description: One agent investigates.
    alert_types: [pod-crash]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
  silent:
    description: It concludes without a verdict.
    verdict: false
    alert_types: [silent]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
`,
});

const sessions = {} as Record<Kind | 'none', string>;

beforeAll(async () => {
  for (const kind of kinds) sessions[kind] = await server().submit(`This is the alert of ${kind}.`);
  sessions.none = await server().submit('Nothing asks for a verdict.', 'silent');
  for (const id of Object.values(sessions)) expect(await server().waitUntilEnded(id)).toBe('completed');
});

const rowOf = (page: Page, id: string) => page.locator(`[data-session-id="${id}"]`);

function idsOf(page: Page): Promise<(string | undefined)[]> {
  return page
    .getByTestId('session-row')
    .evaluateAll((rows) => rows.map((row) => (row as HTMLElement).dataset.sessionId));
}

test('a row shows outcome and cause, or Completed without a verdict', async () => {
  const tab = await visit('/');
  const { page } = tab;
  for (const kind of kinds) {
    const row = rowOf(page, sessions[kind]);
    const text = () => row.innerText();
    await eventually(text).toContain(verdicts[kind].word);
    await eventually(text).not.toContain('Completed');
    await eventually(() => row.getByTestId('session-line').innerText()).toBe(
      verdicts[kind].cause || 'A summary of the analysis.',
    );
  }
  const plain = () => rowOf(page, sessions.none).innerText();
  await eventually(plain).toContain('Completed');
  await eventually(plain).toContain('A summary of the analysis.');
  // Each outcome has its own icon.
  const icons = await page
    .locator('[data-session-id] [data-outcome] svg')
    .evaluateAll((all) => all.map((svg) => svg.outerHTML));
  expect(new Set(icons).size).toBe(kinds.length);
  await tab.expectAccessible();
});

test('the list is filtered by outcome, and the address keeps it', async () => {
  const { page } = await visit('/');
  await rowOf(page, sessions.none).waitFor();
  await openFilters(page);
  await page.getByTestId('filter-outcome').click();
  await page.getByTestId('filter-outcome-false_alarm').click();
  await page.getByTestId('filter-outcome-needs_human').click();
  await page.keyboard.press('Escape');
  const expected = [sessions.needs_human, sessions.false_alarm];
  await eventually(() => idsOf(page)).toEqual(expected);
  await eventually(() => new URL(page.url()).searchParams.get('outcome')?.split(',').toSorted()).toEqual([
    'false_alarm',
    'needs_human',
  ]);
  await page.reload();
  await eventually(() => idsOf(page)).toEqual(expected);
  await eventually(() => page.getByTestId('filter-outcome').getAttribute('aria-label')).toContain('Needs a person');
  await page.getByTestId('filter-clear').click();
  await eventually(async () => (await idsOf(page)).length).toBe(kinds.length + 1);
});

test('a search counts its matches and marks them in the cause', async () => {
  const { page } = await visit('/?search=image%20tag');
  await eventually(() => idsOf(page)).toEqual([sessions.cause_found]);
  await eventually(() => page.getByTestId('search-count').innerText()).toContain('1 session matches');
  await eventually(() => page.getByTestId('session-line').innerText()).toBe(
    'Cause: The image tag of billing does not exist',
  );
  await eventually(() => page.getByTestId('session-match').allInnerTexts()).toEqual(['image', 'tag']);
  await page.getByTestId('search').fill('alert');
  await eventually(() => page.getByTestId('search-count').innerText()).toContain('5 sessions match');
});

test('the palette shows the outcome of the sessions it finds', async () => {
  const { page } = await visit('/');
  await rowOf(page, sessions.none).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type('evicts');
  const found = page.getByTestId('palette').getByRole('option', { name: /Probable cause/ });
  await found.waitFor();
  await eventually(() => found.innerText()).toContain(verdicts.probable_cause.cause);
});

test('the palette offers the filters of the list', async () => {
  const { page } = await visit('/');
  await rowOf(page, sessions.none).waitFor();
  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type('outcome false');
  await page.getByRole('option', { name: 'Filter by outcome: False alarm' }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/outcome=false_alarm/);
  await eventually(() => idsOf(page)).toEqual([sessions.false_alarm]);
});
