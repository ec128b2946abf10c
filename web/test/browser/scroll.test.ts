/** A reader who scrolls up stays there whatever arrives below; a reader at the end follows it. */
import type { Locator, Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { callRow, inSight, position, scroller, status, timeline } from '../kit/timeline';

const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => `{tool_call: {name: cluster__get_log, arguments: {line: ${from + n}}}}`);
const words = (of: string, count: number) =>
  Array.from({ length: count }, (_, n) => `"${of}: sentence ${n + 1} of many that fill a page.\\n\\n"`);

/** Each turn writes a text that stops at a gate in its middle, and then calls tools. */
const turn = (agent: string, number: number, gate: string, calls: string[]) => `
  - when: {agent: ${agent}, turn: ${number}}
    replies:
      - chunks: [${[...words(gate, 30), ...words(`${gate}, after`, 30), ...calls].join(', ')}]
        gate: {name: ${gate}, after_chunks: 30}`;

/** An agent that starts with tool calls. */
const agent = (name: string, calls: string[], ...turns: [string, string[]][]) => `
  - when: {agent: ${name}, turn: 0}
    replies: [{chunks: [${calls.join(', ')}]}]${turns.map(([gate, then], at) => turn(name, at + 1, gate, then)).join('')}`;

const script = `
version: 1
routes:
  ${agent('Investigator', lines(1, 60), ['one', lines(61, 30)], ['two', lines(91, 30)], ['three', lines(121, 5)], ['four', []])}
  ${agent('Left', lines(1, 40), ['left', lines(41, 20)], ['left-end', []])}
  ${agent('Right', lines(1, 5), ['right', []])}
  ${agent('Short', lines(1, 60), ['short', []])}
  - when: {agent: SynthesisAgent}
    replies: [{text: Both have read it all.}]
  - when: {user: Summarize this analysis}
    replies: [{text: Read it all., times: forever}]
mcp_servers: {cluster: {tools: [{name: get_log, read_only: true, results: [{text: "line {{.line}}"}]}]}}
`;

const config = `
agents: {Investigator: {mcp_servers: [cluster]}, Left: {mcp_servers: [cluster]}, Right: {mcp_servers: [cluster]}, Short: {mcp_servers: [cluster]}}
agent_chains:
  one: {alert_types: [pod-crash], stages: [{name: investigation, agents: [{name: Investigator}]}]}
  two: {alert_types: [abreast], stages: [{name: investigation, agents: [{name: Left}, {name: Right}]}]}
  three: {alert_types: [short], stages: [{name: investigation, agents: [{name: Short}]}]}
`;

const { server, visit } = scenario({ script, config });

const following = (page: Page) => timeline(page).getAttribute('data-following');

/** Turns the wheel over a list until it has scrolled that far. */
async function wheel(page: Page, list: Locator, by: number): Promise<void> {
  const box = (await list.boundingBox()) ?? expect.fail('there is no list');
  const before = (await position(list)).top;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
  await page.mouse.wheel(0, by);
  await eventually(async () => Math.round((await position(list)).top - before)).toBe(by);
}

/** Returns the distance from the viewport to the end of a list. */
const belowSight = (list: Locator) =>
  list.evaluate((element) => Math.round(element.scrollHeight - element.clientHeight - element.scrollTop));

test('scrolling up keeps the position while the agent continues', async () => {
  const { mock } = server();
  const id = await server().submit();
  const { page } = await visit(`/sessions/${id}`);
  const list = scroller(page);
  const streaming = page.locator('[data-event-type=llm_response][data-open=true]');

  // At the end, the page follows the streaming text.
  await mock.reached('one');
  await streaming.getByText('one: sentence 30 of many').last().waitFor();
  await eventually(() => following(page)).toBe('true');
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);
  await eventually(() => page.getByTestId('jump-to-latest').count()).toBe(0);

  // Far up, text and 31 rows arrive and nothing moves.
  await wheel(page, list, -1500);
  await eventually(() => following(page)).toBe('false');
  const jump = page.getByTestId('jump-to-latest');
  await jump.waitFor();
  const place = await position(list);
  expect(place.first).not.toBe('');
  await mock.open('one');
  await mock.reached('two');
  await eventually(() => jump.innerText()).toContain('31 new');
  expect(await readOnce(() => position(list))).toEqual(place);

  // The jump button leads back to the end, and the page follows again.
  await jump.click();
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);
  await eventually(() => following(page)).toBe('true');
  await eventually(() => jump.count()).toBe(0);
  await streaming.getByText('two: sentence 30 of many').last().waitFor();
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);

  // Slightly up, the row being read finishes and does not collapse.
  await wheel(page, list, -200);
  const row = page.locator(`[data-event-id="${await streaming.last().getAttribute('data-event-id')}"]`);
  await eventually(() => inSight(row)).toBe(true);
  const near = await position(list);
  await mock.open('two');
  await mock.reached('three');
  await eventually(() => jump.innerText()).toContain('31 new');
  await eventually(() => row.getAttribute('data-open')).toBe('true');
  await eventually(() => row.getByText('two, after: sentence 30 of many').count()).toBeGreaterThan(0);
  expect(await readOnce(() => position(list))).toEqual(near);

  // Scrolling back to the end makes the page follow again.
  await eventually(async () => {
    await page.mouse.wheel(0, 2000);
    return belowSight(list);
  }).toBeLessThanOrEqual(1);
  await eventually(() => following(page)).toBe('true');
  await eventually(() => jump.count()).toBe(0);
  await mock.open('three');
  await mock.reached('four');
  await streaming.getByText('four: sentence 30 of many').last().waitFor();
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);

  // A followed row collapses when it is finished.
  await eventually(() => callRow(page, '1.1.125').getAttribute('data-open')).toBe('false');
  await mock.open('four');
  await status(page, 'completed').waitFor();
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);
  await eventually(() => following(page)).toBe('true');
});

test('scrolling up in one agent keeps the position while both agents continue', async () => {
  const { mock } = server();
  const id = await server().submit('Two look at it.', 'abreast');
  const { page } = await visit(`/sessions/${id}`);
  const [left, right] = [page.getByTestId('pane').nth(0), page.getByTestId('pane').nth(1)];
  const list = left.getByRole('group', { name: /^Events of .*Left$/ });
  await Promise.all([mock.reached('left'), mock.reached('right')]);
  await left.getByText('left: sentence 30 of many').last().waitFor();
  await right.getByText('right: sentence 30 of many').last().waitFor();
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);

  await wheel(page, list, -900);
  await eventually(() => left.getAttribute('data-following')).toBe('false');
  await eventually(() => right.getAttribute('data-following')).toBe('true');
  const jump = left.getByTestId('pane-jump-to-latest');
  await jump.waitFor();
  const [place, around] = [await position(list), await position(scroller(page))];
  await mock.open('right');
  await right.locator('[data-status=completed]').waitFor();
  await mock.open('left');
  await mock.reached('left-end');
  await eventually(() => jump.innerText()).toContain('21 new');
  expect(await readOnce(() => position(list))).toEqual(place);
  expect((await readOnce(() => position(scroller(page)))).top).toBe(around.top);

  await jump.click();
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);
  await eventually(() => left.getAttribute('data-following')).toBe('true');
  await mock.open('left-end');
  await status(page, 'completed').waitFor();
});

test('the outcome that a reader went to stays in place while the cards grow', async () => {
  const { mock } = server();
  const id = await server().submit('It ends below its cards.', 'short');
  const { page } = await visit(`/sessions/${id}`);
  const list = scroller(page);
  await mock.reached('short');
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);
  // Cards of this height are as tall with the outcome as before it.
  const cards = page.locator('[data-testid=timeline-scroller] [data-index="0"] > div');
  const grow = (height: number) => cards.evaluate((row, to) => row.style.setProperty('min-height', `${to}px`), height);
  await grow(1500);
  await mock.open('short');
  await status(page, 'completed').waitFor();
  await page.getByTestId('outcome').waitFor();
  await eventually(() => belowSight(list)).toBeLessThanOrEqual(1);

  // The list is drawn again in the same moment in which the reader leaves its end.
  await page.evaluate(() => {
    const click = (selector: string) => document.querySelector<HTMLElement>(selector)?.click();
    click('[data-testid=show-outcome]');
    click('[data-event-type=llm_response] button[aria-expanded]');
  });
  await eventually(async () => (await position(list)).top).toBeLessThan(100);
  await eventually(() => following(page)).toBe('false');
  const { top } = await position(list);
  await grow(1700);
  await eventually(
    async () => (await page.locator('[data-testid=timeline-scroller] [data-index="0"]').boundingBox())?.height,
  ).toBe(1700);
  expect((await readOnce(() => position(list))).top).toBe(top);
});
