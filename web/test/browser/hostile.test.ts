/** Texts of alerts, tools and models that try to be more than text. */
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';
import { reveal, status, timelineOf } from '../kit/timeline';

const script = '<script>window.owned = 1; alert(1)</script>';
const tag = '<img src="http://evil.example/pixel.png" onerror="window.owned = 2">';
const hostile = [
  script,
  `A line with ${tag} in it.`,
  '<svg onload="window.owned = 3"></svg><iframe src="http://evil.example/frame"></iframe>',
  '<style>body { display: none }</style><link rel="stylesheet" href="http://evil.example/style.css">',
  '<a href="javascript:window.owned = 4">an anchor</a> [a link](javascript:window.owned=5)',
  '[data](data:text/html,<script>window.owned=6</script>) [Script](JaVaScRiPt:window.owned=7) [\u0001odd](\u0001javascript:window.owned=8)',
  '![a picture](http://evil.example/beacon.png) ![another][picture]',
  '[picture]: http://evil.example/reference.png',
  '[call 1.1.1](http://evil.example/mark)',
  '| a | b |\n| --- | --- |\n| <img src=x onerror=window.owned=9> | ![](http://evil.example/table.png) |',
  '```html\n<script>window.owned = 10</script>\n```',
  '```mermaid\ngraph TD; A-->B; click A "javascript:window.owned=11"\n```',
  '$$\\href{javascript:window.owned=12}{x}$$',
  'It ends \u202Egnp.exe\u202C, and pay\u200Bload\u2060 has no width; Ärger, \u0645\u0631\u062D\u0628\u0627.',
].join('\n\n');
const longLine = `${'x'.repeat(100_000)} and its end`;

/** JSON is valid YAML. */
const text = (value: unknown) => JSON.stringify(value);

const scripted = `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies:
      - chunks:
          - {thinking: ${text(`I think ${hostile}\n\n<img src="http://evil.example/half`)}}
          - {thinking: ${text('.png" onerror="window.owned = 20"> done thinking')}}
          - {tool_call: {name: cluster__echo, arguments: {say: ${text(hostile)}}}}
          - {tool_call: {name: cluster__echo, arguments: {say: ${text(longLine)}}}}
          - {tool_call: {name: cluster__fail, arguments: {say: ${text(hostile)}}}}
        gate: {name: half, after_chunks: 1}
  - when: {agent: Investigator, turn: 1}
    replies: [{text: ${text(longLine)}, tool_calls: [{name: cluster__echo, arguments: {say: again}}]}]
  - when: {agent: Investigator, turn: 2}
    replies: [{text: ${text(`# Analysis\n\n${hostile}`)}}]
  - when: {user: Summarize this analysis}
    replies: [{text: ${text(`A summary with ${tag} and ${script}.`)}}]
  - when: {agent: ChatAgent}
    replies: [{text: ${text(`An answer. ${hostile}`)}}]
mcp_servers:
  cluster:
    tools:
      - {name: echo, read_only: true, results: [{text: "It said: {{.say}}"}]}
      - {name: fail, read_only: true, results: [{error: "No: {{.say}}"}]}
`;

const { server, visit } = scenario({ script: scripted, config: plainChain });

/** Expects that none of it became part of the document. */
async function expectHarmless(page: Page): Promise<void> {
  const found = await page.evaluate(() => ({
    owned: 'owned' in window,
    elements: [
      ...document.querySelectorAll('img, picture, iframe, object, embed, video, audio, base, svg image, svg use'),
    ].map((element) => element.outerHTML),
    foreign: [...document.querySelectorAll<HTMLElement>('script, link, style')]
      .map((element) => element.outerHTML)
      .filter((html) => html.includes('evil') || html.includes('owned') || html.includes('display: none')),
    links: [...document.querySelectorAll<HTMLAnchorElement>('a[href]')]
      .filter((link) => !/^(\/|#)/.test(link.getAttribute('href') ?? ''))
      .filter((link) => !/^https?:\/\//.test(link.href) || !/noopener.*noreferrer/.test(link.rel))
      .map((link) => link.outerHTML),
    handlers: [...document.querySelectorAll('*')].flatMap((element) =>
      element.getAttributeNames().filter((name) => /^on/.test(name)),
    ),
    wide: document.documentElement.scrollWidth > window.innerWidth,
  }));
  expect(found).toEqual({ owned: false, elements: [], foreign: [], links: [], handlers: [], wide: false });
}

test('untrusted text is shown as text on every page', async () => {
  const { mock } = server();
  const { session_id: id } = await server().ask<{ session_id: string }>('POST', '/api/v1/alerts', {
    alert_type: 'pod-crash',
    data: { message: hostile, line: longLine, [tag]: script },
    runbook: hostile,
  });
  const tab = await visit(`/sessions/${id}`);
  const { page } = tab;
  page.on('dialog', (dialog) => {
    tab.errors.push({ text: `a dialog: ${dialog.message()}` });
    void dialog.dismiss();
  });

  // While it streams, a tag is cut in half.
  await mock.reached('half');
  const thinking = page.locator('[data-event-type=llm_thinking]');
  await eventually(() => thinking.innerText()).toContain('evil.example/half');
  await eventually(() => thinking.innerText()).toContain(script);
  await expectHarmless(page);
  await mock.open('half');

  await status(page, 'completed').waitFor();
  await eventually(() => page.getByTestId('executive-summary').innerText()).toBe(
    `A summary with ${tag} and ${script}.`,
  );
  const analysis = page.getByTestId('final-analysis');
  await eventually(() => analysis.innerText()).toContain(script);
  await expectHarmless(page);

  // Opens the runbook, the alert, and every row.
  const alert = page.getByTestId('alert');
  for (const closed = alert.locator('button[aria-expanded=false]'); (await closed.count()) > 0; )
    await closed.first().click();
  await eventually(() => alert.innerText()).toContain('window.owned = 1');
  await expectHarmless(page);
  await page.getByRole('button', { name: 'Expand all of stage 1' }).click();
  const events = await timelineOf(server(), id);
  const shown: string[] = [];
  for (const event of events) {
    const row = await reveal(page, event.id);
    const words = { llm_thinking: 'done thinking', llm_tool_call: event.metadata?.is_error ? 'No: ' : 'It said:' };
    await eventually(() => row.innerText()).toContain(words[event.event_type as keyof typeof words] ?? '');
    shown.push(await row.innerText());
    await expectHarmless(page);
  }
  for (const words of [script, tag, 'pay\u200Bload', 'window.owned = 20', 'and its end'])
    expect(shown.join('\n')).toContain(words);

  // A link to a script is not a link, and an image is shown as its address.
  await page.getByTestId('show-outcome').click();
  const all = analysis.getByRole('button', { name: 'Show all' });
  if ((await all.count()) > 0) await all.click();
  for (const words of ['a link', 'Script', 'odd']) await analysis.getByText(words, { exact: false }).first().click();
  await eventually(() => analysis.innerText()).toContain('a picture (http://evil.example/beacon.png)');
  await expectHarmless(page);

  await page.getByTestId('chat-open').click();
  await page.getByTestId('chat-input').fill(hostile);
  await page.getByTestId('chat-send').click();
  await page.locator('[data-testid=chat-exchange][data-status=completed]').waitFor();
  await eventually(() => page.getByTestId('chat-exchange').innerText()).toContain(script);
  await expectHarmless(page);

  // Other pages that show the same texts.
  await page.goto(`${server().url}/sessions/${id}/trace`);
  const calls = page.locator('[data-testid=waterfall] [role=treeitem][data-call]');
  await calls.first().waitFor();
  for (let at = 0; at < (await calls.count()); at++) {
    await calls.nth(at).click();
    await page.getByTestId('copy-call').waitFor();
    await eventually(() => page.getByTestId('call-details').innerText()).toMatch(/conversation|arguments/i);
    await expectHarmless(page);
  }
  await page.goto(`${server().url}/submit?from=${id}`);
  await eventually(() => page.locator('textarea').first().inputValue()).toContain('window.owned');
  await expectHarmless(page);
  await page.goto(`${server().url}/`);
  await page.getByTestId('session-row').getByText('A summary with', { exact: false }).waitFor();
  await expectHarmless(page);
});
