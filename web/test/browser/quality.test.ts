/** How good the conclusions are, computed from real sessions and people's feedback. */
import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { verdictRoute } from '../kit/verdict';

const { server, visit } = scenario({
  verdict: true,
  script: `
version: 1
routes:
${verdictRoute('Analysis of the disk', { outcome: 'cause_found', cause: 'The disk of db-0 is full' })}
${verdictRoute('Analysis of the probe', { outcome: 'false_alarm', cause: 'The probe was slower than its limit' })}
  - {when: {agent: Investigator, user: disk}, replies: [{text: Analysis of the disk., times: forever}]}
  - {when: {agent: Investigator, user: probe}, replies: [{text: Analysis of the probe., times: forever}]}
  - {when: {user: Summarize this analysis}, replies: [{text: A summary., times: forever}]}
mcp_servers: {cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}}
`,
  config: `
agents:
  Investigator: {mcp_servers: [cluster]}
agent_chains:
  disks:
    description: Looks at disks.
    alert_types: [disk-full, pod-crash]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
  probes:
    description: Looks at probes.
    alert_types: [probe-slow]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
`,
});

test('the empty page explains how to get data', async () => {
  const tab = await visit('/quality');
  const { page } = tab;
  await page.getByRole('heading', { name: 'No sessions completed in the last 30 days' }).waitFor();
  await eventually(() => page.locator('main').innerText()).toContain('tarsy feedback');
  await tab.expectAccessible();
  await page.locator('main').getByRole('link', { name: 'Submit alert' }).click();
  await page.waitForURL(/\/submit/);
});

test('outcomes, agreement, time and cost are shown by chain and link to sessions', async () => {
  const ids: string[] = [];
  for (const [data, type] of [
    ['The disk of db-0 is full.', 'disk-full'],
    ['The disk of db-1 is full.', 'disk-full'],
    ['The probe of web is slow.', 'probe-slow'],
  ] as const) {
    const id = await server().submit(data, type);
    expect(await server().waitUntilEnded(id)).toBe('completed');
    ids.push(id);
  }
  const [first, second] = ids;
  await server().ask('PUT', `/api/v1/sessions/${first}/feedback`, { rating: 'right' });
  await server().ask('PUT', `/api/v1/sessions/${second}/feedback`, { rating: 'wrong', why: 'It was the log.' });

  const tab = await visit('/');
  const { page } = tab;
  await page.getByTestId('session-row').first().waitFor();
  await page.keyboard.press('g');
  await page.keyboard.press('q');
  const total = page.getByTestId('quality-total');
  await total.waitFor();
  const text = () => total.innerText();
  await eventually(text).toMatch(/Sessions\s+3/);
  await eventually(text).toMatch(/Agreement\s+50%\s+1 right, 1 wrong/);
  await eventually(text).toMatch(/95th percentile \d/);
  await eventually(text).toMatch(/Cost per alert\s+<\$0\.01/);
  const rows = page.getByTestId('quality-row');
  await eventually(() => rows.count()).toBe(2);
  const [disks = '', probes = ''] = await rows.allInnerTexts();
  expect(disks).toMatch(/disks[\s\S]*2 cause found[\s\S]*50%/);
  expect(probes).toMatch(/probes[\s\S]*1 false alarm[\s\S]*–/);
  await tab.expectAccessible();

  await page.getByTestId('quality-as-table').click();
  await page.getByTestId('quality-day').waitFor();

  // The grouping and the period are part of the address.
  await page.getByTestId('quality-by').getByText('Model').click();
  await page.waitForURL(/by=model/);
  await eventually(() => rows.allInnerTexts()).toEqual([expect.stringContaining('scripted-model')]);
  await page.getByTestId('quality-period').getByText('7 days').click();
  await page.waitForURL(/days=7/);
  await page.reload();
  await rows.first().waitFor();
  await eventually(() => new URL(page.url()).search).toBe('?by=model&days=7');

  await page.getByTestId('quality-outcome-false_alarm').click();
  await page.waitForURL(/outcome=false_alarm/);
  await eventually(() => page.getByTestId('session-row').count()).toBe(1);
  await eventually(() => page.getByTestId('session-row').innerText()).toContain('The probe was slower than its limit');
  await page.goBack();
  await page.getByTestId('quality-by').getByText('Alert type').click();
  await page.getByRole('link', { name: 'disk-full' }).click();
  await page.waitForURL(/alert_type=disk-full/);
  await eventually(() => page.getByTestId('session-row').count()).toBe(2);
});
