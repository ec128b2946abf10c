/** A server is killed during a session, and the trace shows when nobody worked on it. */
import { expect, test } from 'vitest';
import { eventually } from '../kit/expecting';
import { scenario } from '../kit/scenario';

const { server, visit } = scenario({
  held: ['get_log'],
  script: `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies: [{tool_calls: [{name: cluster__get_pods, arguments: {namespace: shop}}, {name: cluster__get_log, arguments: {pod: web-1}}]}]
  - when: {agent: Investigator}
    replies: [{text: The pod ran out of memory.}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory.}]
mcp_servers:
  cluster:
    tools:
      - {name: get_pods, read_only: true, results: [{text: web-1}]}
      - {name: get_log, read_only: true, results: [{text: OOMKilled}]}
`,
});

test('a killed server leaves a gap with its duration and reason', async () => {
  const id = await server().submit();
  await server().turnstile.reached('get_log');
  await server().crash();
  server().turnstile.open('get_log');
  await server().restart();
  expect(await server().waitUntilEnded(id)).toBe('completed');
  const { interruptions } = await server().ask<{ interruptions: { last_seen_at: string; resumed_at: string }[] }>(
    'GET',
    `/api/v1/sessions/${id}/trace`,
  );
  expect(interruptions).toHaveLength(1);

  const tab = await visit(`/sessions/${id}/trace`);
  const { page } = tab;
  const gap = page.locator('[data-kind=gap]');
  await gap.waitFor();
  const text = () => gap.innerText();
  await eventually(text).toContain('Interrupted');
  await eventually(text).toContain('stopped responding');
  // The lease lasts two seconds, so no takeover happens earlier than that after the last heartbeat.
  await eventually(text).toMatch(/\d+(\.\d)? s|\d+ ms/);
  await eventually(() => page.getByTestId('trace-gap-band').first().boundingBox()).toMatchObject({
    width: expect.any(Number),
  });
  await eventually(() => page.getByTestId('trace-gap-band').count()).toBe(await page.getByRole('treeitem').count());
  await tab.expectAccessible();
  await page.getByTestId('kind-gap').click();
  await page.waitForURL(/kind=gap/);
  await eventually(() => page.locator('[data-call]').count()).toBe(0);
  await gap.waitFor();
});
