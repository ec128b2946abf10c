/** An investigation watched from beginning to end, in one page that is never reloaded. */
import { expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { callOf, callRow, inSight, rowOf, scroller, status, timeline } from '../kit/timeline';

const config = `
agents:
  Triage: {mcp_servers: [cluster]}
  Kubernetes: {mcp_servers: [cluster]}
  Metrics: {mcp_servers: [cluster]}
  Logs: {mcp_servers: [cluster]}
agent_chains:
  team:
    description: One agent looks, three investigate.
    alert_types: [pod-crash]
    stages:
      - {name: triage, agents: [{name: Triage}]}
      - {name: investigation, agents: [{name: Kubernetes}, {name: Metrics}, {name: Logs}]}
`;

const specialist = (name: string, gate: string) => `
  - when: {agent: ${name}, turn: 0}
    replies: [{tool_calls: [{name: cluster__get_pods, arguments: {asked_by: ${name}}}]}]
  - when: {agent: ${name}, turn: 1}
    replies: [{chunks: ["${name} begins to conclude. ", "${name} is done."], gate: {name: ${gate}, after_chunks: 1}}]`;

const script = `
version: 1
routes:
  - when: {agent: Triage, turn: 0}
    replies:
      - chunks: [{thinking: "The pod restarts. "}, {thinking: "I look at its events."}, {tool_call: {name: cluster__get_events, arguments: {pod: web-1}}}]
        gate: {name: thought, after_chunks: 1}
  - when: {agent: Triage, turn: 1}
    replies: [{tool_calls: [{name: cluster__get_log, arguments: {pod: web-1}}]}]
  - when: {agent: Triage, turn: 2}
    replies: [{text: "The pod runs out of memory [call 1.1.1]."}]
  - when: {system: Summarize a tool result}
    replies: [{text: The log repeats one line., times: forever}]${specialist('Kubernetes', 'first')}${specialist('Metrics', 'second')}${specialist('Logs', 'third')}
  - when: {agent: SynthesisAgent}
    replies:
      - chunks:
          - "The limit is too low [call 1.1.1], "
          - "the log agrees [call 1.1.2], and the pods show it [call 2.2.1]. Nobody has seen [call 9.9.9]."
        gate: {name: synthesis, after_chunks: 1}
  - when: {user: Summarize this analysis}
    replies: [{text: Raise the memory limit of web., gate: summary}]
mcp_servers:
  cluster:
    tools:
      - {name: get_events, read_only: true, results: [{text: "OOMKilled three times"}]}
      - {name: get_log, read_only: true, results: [{text: "${'the same line again; '.repeat(1500)}the last line."}]}
      - {name: get_pods, read_only: true, results: [{text: "web-1 for {{.asked_by}}"}]}
`;

const { server, visit } = scenario({
  script,
  config,
  held: ['get_events'],
  mcpSettings: 'summarization: {enabled: true}',
});

test('an investigation streams to its end, and citations open the tool calls', async () => {
  const { mock, turnstile } = server();
  const tab = await visit('/');
  const { page } = tab;
  await page.getByTestId('empty-first-visit').waitFor();
  await page.evaluate(() => document.documentElement.setAttribute('data-never-reloaded', ''));

  const id = await server().submit();
  await page.locator(`[data-testid=session-row][data-session-id="${id}"]`).click();
  await status(page, 'in_progress').waitFor();

  // The model's text can be read while it streams.
  await mock.reached('thought');
  const thought = page.locator('[data-event-type=llm_thinking]');
  await thought.getByText('The pod restarts.').last().waitFor();
  await eventually(() => thought.getAttribute('data-open')).toBe('true');
  expect(await readOnce(() => page.getByText('I look at its events.').count())).toBe(0);
  await eventually(() => page.getByTestId('session-header').innerText()).toContain('triage');
  await eventually(() => page.getByTestId('now-agent').allInnerTexts()).toEqual([
    expect.stringMatching(/^Triage\s+Thinking: The pod restarts/),
  ]);
  await mock.open('thought');

  // A tool call is open while it runs and collapses when it is finished.
  await turnstile.reached('get_events');
  const call = callRow(page, '1.1.1');
  await call.waitFor();
  await eventually(() => call.getAttribute('data-open')).toBe('true');
  await eventually(() => call.innerText()).toContain('Waiting for the result.');
  await eventually(() => thought.getAttribute('data-open')).toBe('false');
  turnstile.open('get_events');
  await eventually(() => call.getAttribute('data-open')).toBe('false');

  // Three parallel agents are side by side, each with its own text.
  await Promise.all(['first', 'second', 'third'].map((gate) => mock.reached(gate)));
  const panes = page.getByTestId('pane');
  await eventually(() => panes.count()).toBe(3);
  const names = ['Kubernetes', 'Metrics', 'Logs'];
  for (const [at, name] of names.entries()) {
    await panes.nth(at).getByText(`${name} begins to conclude.`).last().waitFor();
    expect(await readOnce(() => panes.nth(at).innerText())).not.toContain(`${name} is done.`);
  }
  // Side by side: at the same height, and each starts at or after the right edge of its left neighbour.
  await eventually(async () => {
    const boxes = await Promise.all(names.map((_, at) => panes.nth(at).boundingBox()));
    return boxes.map((box, at) => ({
      y: box?.y === boxes[0]?.y,
      x: box !== null && (at === 0 || box.x >= (boxes[at - 1]?.x ?? 0) + (boxes[at - 1]?.width ?? 0)),
    }));
  }).toEqual(names.map(() => ({ y: true, x: true })));
  await tab.expectAccessible();

  // They end in a different order.
  for (const gate of ['third', 'first', 'second']) await mock.open(gate);
  for (const [at, name] of names.entries()) await panes.nth(at).getByText(`${name} is done.`).last().waitFor();

  await mock.reached('synthesis');
  await timeline(page).getByText('The limit is too low').last().waitFor();
  await mock.open('synthesis');
  await mock.reached('summary');
  expect(await readOnce(() => page.getByTestId('outcome').count())).toBe(0);
  await mock.open('summary');

  // At the end the outcome is at the top, and the page has a button to scroll there.
  await status(page, 'completed').waitFor();
  const outcome = page.getByTestId('outcome');
  await outcome.waitFor();
  await page.getByTestId('show-outcome').click();
  await eventually(() => inSight(outcome)).toBe(true);
  await eventually(() => scroller(page).evaluate((list) => list.scrollTop)).toBeLessThan(100);
  await eventually(() => page.getByTestId('executive-summary').innerText()).toBe('Raise the memory limit of web.');
  await eventually(() => page.getByTestId('evidence').innerText()).toContain('Based on 3 tool calls');
  await eventually(() => outcome.innerText()).toContain('9.9.9');
  await tab.expectAccessible();

  // A citation opens the tool call, and from there its row, even inside a pane.
  await outcome.getByRole('link', { name: 'Tool call 2.2.1' }).click();
  await page.getByTestId('evidence-row').click();
  const cited = rowOf(page, (await callOf(server(), id, '2.2.1')).id);
  await eventually(() => inSight(cited)).toBe(true);
  await eventually(() => cited.getAttribute('data-open')).toBe('true');
  await eventually(() => cited.innerText()).toContain('web-1 for Metrics');
  await eventually(() => cited.getAttribute('data-marked')).toBe('true');

  await page.getByTestId('show-outcome').click();
  await outcome.getByRole('link', { name: 'Tool call 1.1.2' }).click();
  await page.getByTestId('evidence-row').click();
  const long = rowOf(page, (await callOf(server(), id, '1.1.2')).id);
  await eventually(() => inSight(long)).toBe(true);

  // A long result is shown as its summary, with a button for the raw result.
  await long.getByText('The log repeats one line.').last().waitFor();
  expect(await readOnce(() => long.innerText())).not.toContain('the last line.');
  await long.getByRole('button', { name: 'Show raw result' }).click();
  await eventually(() => long.innerText()).toContain('the last line.');

  // The address is enough to show someone else the same row.
  const link = new URL(page.url());
  expect(await readOnce(() => page.evaluate(() => document.documentElement.hasAttribute('data-never-reloaded')))).toBe(
    true,
  );
  const other = await visit(link.pathname + link.search);
  const same = rowOf(other.page, (await callOf(server(), id, '1.1.2')).id);
  await same.waitFor();
  await eventually(() => inSight(same)).toBe(true);
  await eventually(() => same.getAttribute('data-open')).toBe('true');
  await eventually(() => same.getAttribute('data-marked')).toBe('true');

  // Three agents fit beside the verdict and the chat.
  await other.page.setViewportSize({ width: 1920, height: 900 });
  await other.page.getByTestId('chat-open').click();
  await other.page.getByTestId('chat').waitFor();
  await eventually(() => other.page.getByTestId('pane').count()).toBe(3);
  const fits = () =>
    other.page
      .getByTestId('parallel-block')
      .evaluate((block) =>
        [...block.querySelectorAll('*')].every(
          (part) => part.scrollWidth <= part.clientWidth + 1 || getComputedStyle(part).overflowX !== 'auto',
        ),
      );
  await eventually(fits).toBe(true);
});
