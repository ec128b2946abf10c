/** A citation opens the tool call next to the claim, and the reader returns to where they were. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { verdictAnswer, verdictConfig, verdictScript } from '../kit/concluded';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { callOf, inSight, rowOf } from '../kit/timeline';

const { server, visit } = scenario({
  script: verdictScript(JSON.stringify(verdictAnswer)),
  config: verdictConfig,
  verdict: true,
});

async function concluded(): Promise<string> {
  const id = await server().submit();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  return id;
}

const focused = (page: Page) => page.evaluate(() => document.activeElement?.getAttribute('data-citation'));

test('a citation opens its call beside the claim, and Escape returns', async () => {
  const id = await concluded();
  const tab = await visit(`/sessions/${id}`, { viewport: { width: 1440, height: 500 } });
  const { page } = tab;
  const panel = page.getByTestId('evidence-panel');
  const analysis = page.getByTestId('final-analysis');
  const mark = analysis.getByRole('link', { name: 'Tool call 1.1.2' });
  // Cards above the analysis load separately and move it.
  await page.waitForLoadState('networkidle');
  await mark.scrollIntoViewIfNeeded();
  const top = (await mark.boundingBox())?.y;
  await mark.focus();
  await page.keyboard.press('Enter');
  await panel.waitFor();
  await eventually(() => panel.getByTestId('evidence-claim').innerText()).toBe(
    'The log shows 310 MiB used with a limit of 256 MiB',
  );
  const lines = panel.locator('[data-relevant]');
  await lines.first().waitFor();
  await eventually(() => lines.allInnerTexts()).toEqual([expect.stringContaining('310 MiB used, limit 256 MiB')]);
  await eventually(() => lines.first().evaluate((node) => node.getBoundingClientRect().bottom < innerHeight)).toBe(
    true,
  );
  await eventually(() => panel.getByTestId('evidence-matches').innerText()).toBe('1 line of 91 matches the claim');
  // The panel does not cover the claim.
  await eventually(async () => {
    const [box, claim] = [await panel.boundingBox(), await mark.boundingBox()];
    return (box?.x ?? 0) - (claim?.x ?? 0) - (claim?.width ?? 0);
  }).toBeGreaterThanOrEqual(0);
  await tab.expectAccessible();

  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  await eventually(() => new URL(page.url()).search).toBe('');
  await eventually(() => focused(page)).toBe('1.1.2');
  await eventually(async () => (await mark.boundingBox())?.y).toBe(top);
});

test('Back closes all evidence at once, and evidence links to the row of its call', async () => {
  const id = await concluded();
  const { page } = await visit('/');
  await page.goto(`${server().url}/sessions/${id}`);
  const panel = page.getByTestId('evidence-panel');
  const card = page.getByTestId('verdict');
  await card.getByTestId('verdict-cause').getByRole('link', { name: 'Tool call 1.1.1' }).click();
  await panel.getByText('Tool call 1.1.1').waitFor();
  await card.getByTestId('next-steps').getByRole('link', { name: 'Tool call 1.1.2' }).click();
  await panel.getByText('Tool call 1.1.2').waitFor();
  await eventually(() => new URL(page.url()).search).toBe('?call=1.1.2');
  await page.goBack();
  await panel.waitFor({ state: 'detached' });
  await card.waitFor();
  await eventually(() => focused(page)).toBe('1.1.2');

  await card.getByTestId('verdict-cause').getByRole('link', { name: 'Tool call 1.1.1' }).click();
  await panel.getByTestId('evidence-row').click();
  await panel.waitFor({ state: 'detached' });
  const row = rowOf(page, (await callOf(server(), id, '1.1.1')).id);
  await eventually(() => inSight(row)).toBe(true);
  await eventually(() => row.getAttribute('data-open')).toBe('true');
});

test('the address of a call opens it, and an unknown call is reported', async () => {
  const id = await concluded();
  const { page } = await visit(`/sessions/${id}?call=1.1.2`);
  const panel = page.getByTestId('evidence-panel');
  await eventually(() => panel.locator('[data-relevant]').count()).toBeGreaterThan(0);
  await panel.getByRole('button', { name: 'Close evidence' }).click();
  await panel.waitFor({ state: 'detached' });
  await eventually(() => new URL(page.url()).pathname).toBe(`/sessions/${id}`);
  await page.goto(`${server().url}/sessions/${id}?call=7.7.7`);
  await panel.getByText('This session has no tool call 7.7.7.').waitFor();
});

test('on a phone the evidence is a sheet, and Back returns to the claim', async () => {
  const id = await concluded();
  const tab = await visit(`/sessions/${id}`, { viewport: { width: 360, height: 740 }, hasTouch: true });
  const { page } = tab;
  const mark = page.getByTestId('next-steps').getByRole('link', { name: 'Tool call 1.1.2' });
  await mark.tap();
  const panel = page.getByTestId('evidence-panel');
  await panel.locator('[data-relevant]').first().waitFor();
  await eventually(async () => (await panel.boundingBox())?.width).toBe(360);
  await tab.expectAccessible();
  await page.goBack();
  await panel.waitFor({ state: 'detached' });
  await eventually(() => inSight(mark)).toBe(true);
});
