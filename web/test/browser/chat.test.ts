/** Questions about a finished session, and their streaming answers. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';
import { callOf, inSight, rowOf } from '../kit/timeline';

const script = `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies: [{tool_calls: [{name: cluster__get_pods}], times: forever}]
  - when: {agent: Investigator, turn: 1}
    replies: [{text: "The pod ran out of memory.", times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
  - when: {agent: ChatAgent, user: Why did it}
    replies: [{chunks: ["Because its limit ", "is too low [call 1.1.1]."], gate: {name: why, after_chunks: 1}}]
  - when: {agent: ChatAgent, user: Tell me everything}
    replies: [{text: "Once upon a time", hang: true}]
  - when: {agent: ChatAgent, user: And in short}
    replies: [{text: "Memory."}]
mcp_servers: {cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}}
`;

const { server, visit } = scenario({ script, config: plainChain });

const input = (page: Page) => page.getByTestId('chat-input');
const exchange = (page: Page, at: number) => page.getByTestId('chat-exchange').nth(at);
const exchangeStatus = (page: Page, at: number) => exchange(page, at).getAttribute('data-status');

async function overSession(): Promise<string> {
  const id = await server().submit();
  await server().waitUntilEnded(id);
  return id;
}

test('an answer streams, can be stopped, and the next question can be asked', async () => {
  const { mock } = server();
  const id = await overSession();
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;

  // The chat is closed until opened, and then suggests questions.
  await eventually(() => page.getByTestId('chat').count()).toBe(0);
  await page.getByTestId('chat-open').click();
  await eventually(() => input(page).evaluate((field) => field === document.activeElement)).toBe(true);
  await eventually(() => page.getByTestId('chat-suggestion').count()).toBe(3);
  await page.getByTestId('chat-suggestion').first().click();
  await eventually(() => input(page).inputValue()).toMatch(/\?$/);
  expect(await readOnce(() => page.getByTestId('chat-exchange').count())).toBe(0);
  await input(page).fill('');

  // Enter sends; Shift+Enter adds a line.
  await input(page).click();
  await page.keyboard.type('Why did it');
  await page.keyboard.press('Shift+Enter');
  await page.keyboard.type('crash?');
  await eventually(() => input(page).inputValue()).toBe('Why did it\ncrash?');
  expect(await readOnce(() => page.getByTestId('chat-exchange').count())).toBe(0);
  await page.keyboard.press('Enter');
  await eventually(() => input(page).inputValue()).toBe('');

  await mock.reached('why');
  const answer = exchange(page, 0).getByTestId('chat-answer');
  await answer.getByText('Because its limit').waitFor();
  expect(await readOnce(() => answer.innerText())).not.toContain('is too low');
  await eventually(() => exchangeStatus(page, 0)).toBe('active');
  await eventually(() => exchange(page, 0).innerText()).toContain('Why did it\ncrash?');

  // Text typed while an answer streams is kept but not sent.
  await input(page).fill('And in short?');
  await page.keyboard.press('Enter');
  expect(await readOnce(() => input(page).inputValue())).toBe('And in short?');
  await eventually(() => page.getByTestId('chat-hint').innerText()).toContain('One question at a time');
  await tab.expectAccessible();

  await mock.open('why');
  await eventually(() => exchangeStatus(page, 0)).toBe('completed');
  await answer.getByText('is too low').waitFor();
  // The evidence of an answer is one click away, too.
  await answer.getByRole('link', { name: 'Tool call 1.1.1' }).click();
  await page.getByTestId('evidence-row').click();
  const cited = rowOf(page, (await callOf(server(), id, '1.1.1')).id);
  await eventually(() => inSight(cited)).toBe(true);

  // A long answer is stopped; the text written so far is kept.
  await input(page).fill('Tell me everything');
  await page.getByTestId('chat-send').click();
  await exchange(page, 1).getByText('Once upon a time').waitFor();
  await page.getByTestId('chat-stop').click();
  await eventually(() => exchangeStatus(page, 1)).toBe('cancelled');
  await eventually(() => exchange(page, 1).innerText()).toContain('Once upon a time');
  await eventually(() => exchange(page, 1).innerText()).toContain('Cancelled');
  expect((await server().ask<{ status: string }>('GET', `/api/v1/sessions/${id}`)).status).toBe('completed');

  await input(page).fill('And in short?');
  await page.keyboard.press('Enter');
  await eventually(() => exchangeStatus(page, 2)).toBe('completed');
  await eventually(() => exchange(page, 2).innerText()).toContain('Memory.');
  await eventually(() => page.getByTestId('chat-exchange').count()).toBe(3);
});

test('a draft survives a reload, for its session only', async () => {
  const [id, other] = [await overSession(), await overSession()];
  const { page } = await visit(`/sessions/${id}`);
  await page.getByTestId('chat-open').click();
  await input(page).fill('Half a quest');
  await page.reload();
  await input(page).waitFor();
  await eventually(() => input(page).inputValue()).toBe('Half a quest');
  await page.goto(`${server().url}/sessions/${other}`);
  await page.getByTestId('chat-open').click();
  await input(page).waitFor();
  await eventually(() => input(page).inputValue()).toBe('');
});

test('a refused question stays in the field, with the reason', async () => {
  const id = await overSession();
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  tab.tolerated = [/\b4\d\d\b/];
  const long = 'What? '.repeat(6_000).trim();
  const answer = await fetch(`${server().url}/api/v1/sessions/${id}/chat/messages`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ content: long }),
  });
  const { detail } = (await answer.json()) as { detail: string };
  expect(answer.ok).toBe(false);

  await page.getByTestId('chat-open').click();
  await input(page).fill(long);
  await input(page).press('Enter');
  const alert = page.getByTestId('chat').getByRole('alert');
  await alert.waitFor();
  await eventually(() => alert.innerText()).toContain(detail);
  await eventually(() => input(page).inputValue()).toBe(long);
  await eventually(() => page.getByTestId('chat-unsent').innerText()).toContain('It stays in the box');
  await eventually(() => page.getByTestId('chat-exchange').count()).toBe(0);
  await tab.expectAccessible();
});
