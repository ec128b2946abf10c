package e2e

// Configurations that several scenarios use.
const (
	// oneAgent is one agent without tools.
	oneAgent = `
agents:
  Investigator: {}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: analysis, agents: [{name: Investigator}]}]
`

	// kubernetesAgent is one agent with the MCP server "kubernetes".
	kubernetesAgent = `
agents:
  Investigator: {mcp_servers: [kubernetes]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: analysis, agents: [{name: Investigator}]}]
`

	// twoStages are two agents without tools, one after the other.
	twoStages = `
agents:
  Collector: {}
  Analyst: {}
agent_chains:
  test:
    alert_types: [test]
    stages:
      - {name: collect, agents: [{name: Collector}]}
      - {name: analyse, agents: [{name: Analyst}]}
`

	// twoAgents are two agents without tools in parallel; %s is the success policy.
	twoAgents = `
agents:
  Optimist: {}
  Pessimist: {}
agent_chains:
  test:
    alert_types: [test]
    stages:
      - {name: look, success_policy: %s, agents: [{name: Optimist}, {name: Pessimist}]}
`
)
