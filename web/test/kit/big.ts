/** A session with thousands of timeline events, created by running a script on the real server. */

/**
 * How many tool calls the model makes per turn. There are few turns, because each one sends the whole conversation
 * again.
 */
const batch = 500;

/** Settings for `system`: such a session costs more than the default budget allows. */
export const bigBudget = 'budgets: {session: {max_cost_usd: 0}}';

/**
 * Returns a script in which one agent makes enough tool calls for a timeline of at least `events` rows. Every
 * thousandth result is much longer than its preview.
 */
export function bigScript(events: number): string {
  const call = (line: number) =>
    `          - {name: cluster__${line % 1000 === 0 ? 'get_long_log' : 'get_log'}, arguments: {line: ${line}}}`;
  const calls = (turn: number) => Array.from({ length: batch }, (_, n) => call(turn * batch + n + 1));
  const turns = Array.from({ length: Math.ceil(events / batch) }, (_, turn) => turn);
  const tool = (name: string, text: string) => [
    `      - name: ${name}`,
    '        read_only: true',
    '        schema: {type: object, properties: {line: {type: integer}}}',
    `        results: [{text: "line {{.line}} ${text}"}]`,
  ];
  return [
    'version: 1',
    'routes:',
    '  - when: {agent: Investigator}',
    '    replies:',
    ...turns.flatMap((turn) => ['      - tool_calls:', ...calls(turn)]),
    '      - {text: "Every line was read. The last one says it [call 1.1.1].", times: forever}',
    '  - when: {user: Summarize this analysis}',
    '    replies: [{text: Read it all., times: forever}]',
    'mcp_servers:',
    '  cluster:',
    '    tools:',
    ...tool('get_log', 'of a long log, which says little.'),
    ...tool('get_long_log', `${'of a very long log '.repeat(300)}and its end.`),
    '',
  ].join('\n');
}

const crowdText = Array.from(
  { length: 30 },
  (_, n) =>
    `## Part ${n}\n\n${`The pod **web-${n}** used \`${n} MiB\` more than before, and nobody knows why. `.repeat(3)}`,
).join('\n\n');

/**
 * Six stages of eight parallel agents, each of which makes some calls and then writes. The texts of the last stage wait
 * for the gate `go`.
 */
export const crowd = {
  script: `
version: 1
routes:
  - when: {agent: Writer, turn: 0}
    replies: [{tool_calls: [${calls(12)}], times: forever}]
  - when: {agent: Writer}
    replies: [{text: ${JSON.stringify(crowdText)}, gate: go, profile: {tps: 50}, times: forever}]
  - when: {agent: Investigator, turn: 0}
    replies: [{tool_calls: [${calls(12)}], times: forever}]
  - when: {agent: Investigator}
    replies: [{text: ${JSON.stringify(crowdText)}, times: forever}]
replies: [{text: The pods use more memory., times: forever}]
mcp_servers: {cluster: {tools: [{name: get_log, read_only: true, results: [{text: "one line of a log"}]}]}}
`,
  config: `
agents: {Investigator: {mcp_servers: [cluster]}, Writer: {mcp_servers: [cluster]}}
agent_chains:
  crowd:
    description: Six stages of eight agents.
    alert_types: [pod-crash]
    stages:
${Array.from(
  { length: 6 },
  (_, n) =>
    `      - {name: stage-${n + 1}, agents: [${Array(8)
      .fill(n === 5 ? '{name: Writer}' : '{name: Investigator}')
      .join(', ')}]}`,
).join('\n')}
`,
};

function calls(count: number): string {
  return Array.from({ length: count }, (_, n) => `{name: cluster__get_log, arguments: {line: ${n}}}`).join(', ');
}
