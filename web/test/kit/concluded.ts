/** A session with a verdict: the findings of three agents, the model's conclusion, and variations for scenarios. */

/** The model's reply to a request for a verdict, in the server's schema. */
export const verdictAnswer = {
  outcome: 'cause_found',
  cause: 'The memory limit of web (256 MiB) is below what release 1.4 needs [call 1.1.1].',
  confidence: 'high',
  confidence_reason: 'Events and log agree: the container was OOMKilled 14 times [calls 1.1.1 and 1.1.2].',
  impact: 'Checkout answers 1 of 3 requests with an error since 14:02.',
  next_steps: [
    {
      title: 'Raise the memory limit of web to 512 MiB',
      why: 'The process needs 310 MiB at start [call 1.1.2].',
      command: 'kubectl -n shop set resources deployment/web --limits=memory=512Mi',
      url: '',
      risk: 'low',
      reversible: true,
    },
    {
      title: 'Delete the old replica set',
      why: '',
      command: 'kubectl -n shop delete replicaset web-5d8f',
      url: 'https://runbooks.example.com/replicasets',
      risk: 'high',
      reversible: false,
    },
    {
      title: 'Look at the dashboard of the node',
      why: 'Other pods may be short of memory too.',
      command: '',
      url: 'https://grafana.example.com/d/node',
      risk: 'none',
      reversible: true,
    },
  ],
  not_checked: ['Whether the cache grows without bound.', 'The other clusters [call 9.9.9].'],
};

export const verdictConfig = `
agents:
  Investigator: {mcp_servers: [cluster]}
agent_chains:
  plain:
    description: One agent investigates.
    alert_types: [pod-crash]
    stages: [{name: investigation, agents: [{name: Investigator}]}]
    chat: {enabled: true}
`;

/** A log with one relevant line. */
export const logLines = [
  ...Array.from({ length: 60 }, (_, n) => `14:01:${String(n).padStart(2, '0')} INFO cache warm, ${n} entries`),
  '14:02:07 ERROR web-1 OOMKilled: 310 MiB used, limit 256 MiB',
  ...Array.from({ length: 30 }, (_, n) => `14:03:${String(n).padStart(2, '0')} INFO restarting`),
];

/**
 * Returns the script of an investigation with two tool calls that concludes with the given verdict; the verdict waits
 * for `gate`.
 */
export function verdictScript(answer: string, gate = ''): string {
  const json = JSON.stringify;
  return `
version: 1
routes:
  - when: {agent: Investigator, turn: 0}
    replies: [{tool_calls: [{name: cluster__get_events, arguments: {pod: web-1}}], times: forever}]
  - when: {agent: Investigator, turn: 1}
    replies: [{tool_calls: [{name: cluster__get_log, arguments: {pod: web-1}}], times: forever}]
  - when: {agent: Investigator, turn: 2}
    replies: [{text: ${json(
      'The container web-1 was OOMKilled 14 times [call 1.1.1].\n\n## Evidence\n\nThe log shows 310 MiB used with a limit of 256 MiB [call 1.1.2].',
    )}, times: forever}]
  - when: {user: Summarize this analysis}
    replies: [{text: The limit of web is too low., times: forever}]
  - when: {user: Write the verdict of this analysis}
    replies: [{text: ${json(answer)}${gate && `, gate: ${gate}`}, times: forever}]
  - when: {agent: ChatAgent}
    replies: [{text: Because the limit is low., times: forever}]
mcp_servers:
  cluster:
    tools:
      - {name: get_events, read_only: true, results: [{text: ${json('Pod web-1\nBackOff restarting failed container\nOOMKilled 14 times\nScheduled on node-3')}}]}
      - {name: get_log, read_only: true, results: [{text: ${json(logLines.join('\n'))}}]}
`;
}
