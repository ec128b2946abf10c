/** Every name from a configuration, an alert or a model contains a character that reverses the following text. */
import type { BrowserContextOptions, Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';

/** U+202E, as an escape in a double-quoted YAML or JSON string. */
const turn = String.raw`\u202e`;
const alertType = 'pod\u202ecrash';

const { server, visit } = scenario({
  script: `
version: 1
routes:
  - when: {user: Summarize this analysis}
    replies: [{text: "Out of ${turn}memory.", times: forever}]
  - when: {}
    replies: [{thinking: "I ${turn}think.", text: "The pod ${turn}ran out of memory.", times: forever}]
mcp_servers: {cluster: {tools: [{name: get_pods, description: "Lists ${turn}pods.", read_only: true, results: [{text: web-1}]}]}}
`,
  config: `
agents:
  "First${turn}agent": {mcp_servers: [cluster]}
  "Second${turn}agent": {mcp_servers: [cluster]}
agent_chains:
  "plain${turn}chain":
    description: "Two ${turn}agents."
    alert_types: ["pod${turn}crash", pod-crash]
    stages: [{name: "look${turn}stage", agents: [{name: "First${turn}agent"}, {name: "Second${turn}agent"}]}]
    chat: {enabled: true}
`,
});

let id = '';

beforeAll(async () => {
  id = await server().submit('web-1 \u202ecrashes', alertType);
  expect(await server().waitUntilEnded(id)).toBe('completed');
  await server().ask('POST', `/api/v1/sessions/${id}/chat/messages`, { content: 'Why \u202enow?' });
  await server().waitUntilEnded(id);
});

/** Returns where the raw character occurs in text that people read or hear. Fields that people edit may contain it. */
function hidden(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const found = document.title.includes('\u202e') ? [`title: ${document.title}`] : [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const { parentElement: parent, textContent } = walker.currentNode;
      if (textContent?.includes('\u202e') && parent?.closest('textarea, script, style') === null)
        found.push(parent.outerHTML.slice(0, 200));
    }
    for (const element of document.querySelectorAll('*')) {
      for (const name of ['title', 'aria-label', 'alt', 'label', 'placeholder'])
        if (element.getAttribute(name)?.includes('\u202e')) found.push(`${name} of ${element.outerHTML.slice(0, 200)}`);
    }
    return found;
  });
}

async function expectEscaped(page: Page): Promise<void> {
  await eventually(() => page.locator('body').innerText()).toContain(turn);
  expect(await readOnce(() => hidden(page))).toEqual([]);
}

const narrow = { viewport: { width: 390, height: 844 } };

/** Each view with its address, and an element that exists once it has loaded. */
const views: [string, () => string, string, BrowserContextOptions][] = [
  ['the list', () => '/', '[data-testid=session-row]', {}],
  ['a search', () => '/?search=memory', '[data-testid=session-match]', {}],
  ['a session', () => `/sessions/${id}`, '[data-testid=pane]', {}],
  ['a session on a narrow screen', () => `/sessions/${id}`, '[role=tab]', narrow],
  ['the chat', () => `/sessions/${id}?chat=true`, '[data-testid=chat-answer]', narrow],
  ['the trace', () => `/sessions/${id}/trace`, '[data-call]', {}],
  ['a form', () => '/submit', '[data-testid=submit-default-tools]', {}],
  ['a form that a session filled', () => `/submit?from=${id}`, '[data-testid=submit-default-tools]', {}],
  ['tools', () => '/system?tab=tools', '[data-testid=mcp-tool]', {}],
  ['usage', () => '/system?tab=usage', '[data-testid=usage-chart]', {}],
  ['configuration', () => '/system?tab=config&q=agents', '[data-testid=config-setting]', {}],
];

test.each(views)('%s shows hidden characters as escapes', async (_, address, sign, context) => {
  const { page } = await visit(address(), context);
  await page.locator(sign).first().waitFor();
  await expectEscaped(page);
});

test('open events, calls, comparison and palette show hidden characters as escapes', async () => {
  const { page } = await visit(`/sessions/${id}`);
  await page.getByTestId('pane').first().waitFor();
  await page.getByRole('button', { name: 'Expand all of stage 1' }).click();
  await expectEscaped(page);

  await page.goto(`${server().url}/sessions/${id}/trace`);
  await page.locator('[data-call]').first().click();
  await page.getByTestId('conversation').waitFor();
  await expectEscaped(page);
  await page.getByTestId('compare').click();
  await page.getByTestId('compare-agents').click();
  await page.getByTestId('comparison').waitFor();
  await expectEscaped(page);

  await page.keyboard.press('Control+k');
  await page.getByTestId('palette').waitFor();
  await page.keyboard.type('memory');
  await page.getByTestId('palette').getByRole('group', { name: 'Sessions' }).getByRole('option').first().waitFor();
  await expectEscaped(page);
});
