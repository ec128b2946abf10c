/** Every page with content: finished, failed and running sessions, a chat, notes, a board, tools, usage. */
import type { Page } from 'playwright-core';
import { deliver, podAlerts } from './alerts';
import {
  createEpic,
  createProject,
  createTask,
  extracts,
  organizes,
  processed,
  refusesToExtract,
  scriptOf,
} from './notes';
import type { Server, ServerOptions } from './server';

const noteRoutes = [
  extracts('Post-mortem', [
    {
      title: 'Bound the cache of the web pods, which has grown without a limit since the last release',
      owner: 'Ada',
      due_date: '2026-11-20',
      tags: ['cache', 'memory', `a-very-long-tag-${'x'.repeat(30)}`],
      evidence: 'Ada bounds the cache by Friday.',
    },
    {
      type: 'decision',
      title: 'Roll back to 1.4',
      evidence: 'We roll back to 1.4.',
      content: `See ${'x'.repeat(200)}`,
    },
    { type: 'question', title: 'Who owns the alert?', evidence: 'Who owns the alert?', confidence: 0.3 },
  ]),
  organizes('Bound the cache of the web pods', [{}, {}, {}]),
  refusesToExtract('an odd note'),
];

export const everything: ServerOptions = {
  script: scriptOf(
    noteRoutes,
    `
version: 1
routes:
  - when: {agent: Investigator, user: the long one}
    replies: [{text: "First I look around. Then I look again.", gate: {name: hold, after_chunks: 4}, times: forever}]
  - when: {agent: Investigator, user: refuses}
    replies: [{error: {status: 400, message: The model refuses to look at this., class: invalid_request}, times: forever}]
  - when: {agent: Investigator, turn: 0}
    replies:
      - thinking: I look at the pods first.
        tool_calls:
          - {name: cluster__get_pods, arguments: {namespace: shop}}
          - {name: cluster__get_log, arguments: {pod: web-1}}
        times: forever
  - when: {agent: Investigator, tool_result: OOMKilled}
    replies:
      - text: |
          ## Cause

          The cache of \`web-1\` has no bound [call 1.1.1].

          | pod | limit | used |
          | --- | --- | --- |
          | web-1 | 512Mi | 530Mi |

          1. Raise the limit.
          2. Bound the cache.
        times: forever
  - when: {agent: Judge}
    replies: [{text: "Both agree: **out of memory** [call 1.1.1, 1.2.1].", times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: Out of memory., times: forever}]
  - when: {user: Why}
    replies: [{text: "Because the cache has no bound [call 1.1.1].", times: forever}]
mcp_servers:
  cluster:
    tools:
      - {name: get_pods, description: Lists the pods of a namespace., read_only: true, results: [{text: "web-1 was OOMKilled"}]}
      - {name: get_log, description: Reads a log., read_only: true, results: [{error: The log is gone.}]}
`,
  ),
  config: `
agents:
  Investigator: {mcp_servers: [cluster]}
  Judge: {type: synthesis}
agent_chains:
  both:
    description: Two agents look at once.
    alert_types: [pod-crash]
    stages:
      - {name: investigation, agents: [{name: Investigator}, {name: Investigator}], synthesis: {agent: Judge}}
    chat: {enabled: true}
alerts: {storm: {threshold: 2}}
`,
};

export interface Sessions {
  done: string;
  running: string;
  note: string;
  /** A session of an alert received twice, with very long words. */
  repeated: string;
  storm: string;
}

/** Creates the sessions. The running one stops in the middle of a sentence. */
export async function fill(server: Server): Promise<Sessions> {
  const done = await server.submit({
    pod: 'web-1',
    namespace: 'shop',
    labels: { app: 'web', 'a-very-long-label': 'x'.repeat(200) },
  });
  const failed = await server.submit('The model refuses this.');
  const statuses = await Promise.all([server.waitUntilEnded(done), server.waitUntilEnded(failed)]);
  if (statuses.join() !== 'completed,failed') throw new Error(`the sessions ended as ${statuses}`);
  await server.ask('POST', `/api/v1/sessions/${done}/chat/messages`, { content: 'Why?' });
  await server.waitUntilEnded(done);
  const alerts = await fillAlerts(server);
  const running = await server.submit('This is the long one.');
  await server.mock.reached('hold');
  const note = await fillNotes(server);
  return { done, running, note, ...alerts };
}

/** Creates a repeated alert, a storm, a silence and the alert it suppressed. */
async function fillAlerts(server: Server): Promise<Pick<Sessions, 'repeated' | 'storm'>> {
  const alert = {
    labels: { alertname: 'CheckoutDown', severity: 'critical', service: 'checkout', team: `team-${'x'.repeat(120)}` },
    annotations: { summary: `Nobody can pay since the last release ${'x'.repeat(150)}` },
  };
  const results = await deliver(server, alert, ...podAlerts('PodCrash', 4));
  await deliver(server, alert);
  await server.ask('POST', '/api/v1/silences', {
    matchers: ['alertname="Backup"', `job!="${'x'.repeat(200)}"`],
    reason: 'Planned work on the storage',
    duration: '8h',
  });
  await deliver(server, { labels: { alertname: 'Backup', severity: 'info' } });
  const sessions = new Set(results.map((result) => result.session_id).filter((id) => id !== null));
  await Promise.all([...sessions].map((id) => server.waitUntilEnded(id)));
  const of = (action: string) => results.find((result) => result.action === action)?.session_id ?? '';
  return { repeated: of('investigate'), storm: of('storm') };
}

async function fillNotes(server: Server): Promise<string> {
  const project = await createProject(server, 'Web shop', 'Everything that customers see.');
  const epic = await createEpic(server, project, 'Memory');
  const filed = { project_id: project, epic_id: epic, owner: 'Bob' };
  await createTask(server, 'Write the post-mortem', { ...filed, status: 'done' });
  await createTask(server, 'Raise the limit', {
    ...filed,
    status: 'in_progress',
    due_on: '2020-01-31',
    tags: ['cache'],
  });
  await createTask(server, 'x'.repeat(120), filed);
  await processed(server, 'This is an odd note.', 'failed');
  const { id } = await processed(
    server,
    `Post-mortem of web-1.\n\nAda bounds the cache by Friday. We roll back to 1.4. Who owns the alert?\n\n${'x'.repeat(300)}`,
  );
  return id;
}

export interface Place {
  name: string;
  address: (sessions: Sessions) => string;
  /** Waits until the page shows its content. */
  ready: (page: Page) => Promise<void>;
}

export const places: readonly Place[] = [
  at('sessions', () => '/', '[data-testid=session-row][data-status=in_progress]'),
  at('no session matches', () => '/?search=nothing-has-this', 'text=No sessions match these filters'),
  {
    name: 'filters of sessions',
    address: () => '/?severity=critical&label=alertname=CheckoutDown&fingerprint=nothing-has-this',
    ready: async (page) => {
      await page.locator('text=No sessions match these filters').waitFor();
      const toggle = page.locator('[data-testid=filter-toggle][aria-expanded=false]');
      if (await toggle.isVisible()) await toggle.click();
      await page.getByTestId('filter-team').waitFor();
    },
  },
  at('session of a repeated alert', ({ repeated }) => `/sessions/${repeated}`, '[data-testid=alert-repeats]'),
  at('session of a storm', ({ storm }) => `/sessions/${storm}`, '[data-testid=suppressed-alert]'),
  at('session', ({ done }) => `/sessions/${done}`, '[data-testid=executive-summary]'),
  at('running session', ({ running }) => `/sessions/${running}`, '[data-testid=now]'),
  at('chat', ({ done }) => `/sessions/${done}?chat=true`, '[data-testid=chat-answer]'),
  at('trace', ({ done }) => `/sessions/${done}/trace`, '[data-call]'),
  at(
    'comparison of sessions',
    ({ done, repeated }) => `/sessions/${done}/trace?compare=${repeated}`,
    '[data-testid=compare-tools]',
  ),
  at('suppressed alerts', () => '/alerts', '[data-testid=suppressed-alert]'),
  at('silences', () => '/alerts?tab=silences', '[data-testid=silence]'),
  at('notes', () => '/notes', '[data-testid=note-row][data-status=done]'),
  at('note', ({ note }) => `/notes/${note}`, '[data-testid=note-entity]'),
  at('review', () => '/review', '[data-testid=review-item]'),
  at('review of several', () => '/review?mode=bulk', '[data-testid=bulk-item]'),
  at('board', () => '/board?type=all', '[data-testid=board-card]'),
  at('submit', () => '/submit', '[data-testid=submit-default-tools]'),
  at('quality', () => '/quality', '[data-testid=quality-row]'),
  at('health', () => '/system', 'text=LLM providers'),
  at('jobs', () => '/system?tab=jobs', '[data-testid=job]'),
  at('tools', () => '/system?tab=tools', '[data-testid=mcp-tool]'),
  at('usage', () => '/system?tab=usage', '[data-testid=usage-chart]'),
  at('config', () => '/system?tab=config', '[data-testid=config-setting]'),
  at('keys', () => '/system?tab=keys', '[data-testid=keys-not-required]'),
  // The menus of the navigation load after the page.
  at('no such page', () => '/no/such/page', 'body:has([data-testid^=pages-]) h1'),
];

function at(name: string, address: Place['address'], sign: string): Place {
  return { name, address, ready: (page) => page.locator(sign).first().waitFor() };
}
