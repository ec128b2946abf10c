/** More alerts than the server investigates at a time, and alerts that repeat after their session has ended. */
import { expect, test } from 'vitest';
import { deliver, type SentAlert } from '../kit/alerts';
import { eventually, readOnce } from '../kit/expecting';
import { scenario } from '../kit/scenario';
import { plainChain } from '../kit/server';

const { server, visit } = scenario({
  config: `${plainChain}alerts: {deduplicate: {window: 0s}}\n`,
  script: `
version: 1
routes:
  - when: {agent: Investigator, user: refuses}
    replies: [{error: {status: 400, message: The model refuses to look at this., class: invalid_request}, times: forever}]
  - when: {agent: Investigator, user: the long one}
    replies: [{text: It took its time., gate: hold, times: forever}]
  - when: {agent: Investigator}
    replies: [{text: The pod ran out of memory., times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
mcp_servers: {cluster: {tools: [{name: get_pods, read_only: true, results: [{text: web-1}]}]}}
`,
});

/** Returns an alert with its own group. */
const alert = (alertname: string, summary: string, labels: Record<string, string> = {}): SentAlert => ({
  labels: { alertname, severity: 'warning', ...labels },
  annotations: { summary },
});

test('an alert repeated after the window links to its earlier session', async () => {
  const flood = alert('Flood', 'The log floods the disk');
  const [first] = await deliver(server(), flood);
  await server().waitUntilEnded(first?.session_id ?? '');
  const [second] = await deliver(server(), flood);
  expect(second?.action).toBe('investigate');
  expect(second?.session_id).not.toBe(first?.session_id);
  const { page } = await visit(`/sessions/${second?.session_id}`);
  await page.getByTestId('session-header').getByTestId('earlier-session').click();
  await page.waitForURL(new RegExp(first?.session_id ?? ''));
  expect(await readOnce(() => page.getByTestId('earlier-session').count())).toBe(0);
});

test('the list counts queued sessions and places them between failed and completed', async () => {
  const probe = { probe: 'order' };
  const ended = await deliver(
    server(),
    alert('Done', 'All is well', probe),
    alert('Failed', 'The model refuses this', probe),
  );
  await Promise.all(ended.map(({ session_id }) => server().waitUntilEnded(session_id ?? '')));
  const [running] = await deliver(server(), alert('Running', 'This is the long one', probe));
  await server().mock.reached('hold');
  const many = Array.from({ length: 229 }, (_, n) => alert(`Many${n}`, 'This is the long one too'));
  await deliver(server(), ...many);
  const [waiting] = await deliver(server(), alert('Waiting', 'This is the long one at last', probe));

  const tab = await visit('/?label=probe=order');
  const { page } = tab;
  const rows = page.getByTestId('session-row');
  const order = () => rows.evaluateAll((all) => all.map((row) => (row as HTMLElement).dataset.sessionId));
  const [done, failed] = ended.map(({ session_id }) => session_id);
  await eventually(order).toEqual([running?.session_id, failed, waiting?.session_id, done]);
  const heading = page.getByText(/^\d+ running, \d+ queued$/);
  await eventually(async () =>
    (await heading.innerText())
      .match(/\d+/g)
      ?.map(Number)
      .reduce((a, b) => a + b),
  ).toBe(231);
  const [, queued] = (await heading.innerText()).match(/(\d+) queued/) ?? [];
  expect(Number(queued)).toBeGreaterThan(200);
  await tab.expectAccessible();
});
