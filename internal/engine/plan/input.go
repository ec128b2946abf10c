package plan

import (
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

// The codes of executions that cannot run.
const (
	codeUnknownAgent tarsy.Code = "unknown_agent"
	codeChatDisabled            = tarsy.CodeChatDisabled
)

// Setup is the environment that executions run in.
type Setup struct {
	// Chain is the chain after applying the alert's selection.
	Chain chain.Chain
	// Server returns what agents need to know about an MCP server.
	Server func(id string) (chain.Server, bool)
	// ConcludeAfter is how long after the start of the work its agents are asked to conclude.
	ConcludeAfter time.Duration
	// Timeout is how long after the start the work times out.
	Timeout time.Duration
	// Now is the current time.
	Now time.Time
}

// Input builds the input of an execution from the session's state and the current configuration. It also returns the agent that runs it,
// with the servers and tools it may use. The caller adds what only a running server has: recorder, fence, tools.
func Input(state *progress.State, setup Setup, t Task) (agent.Input, chain.Agent, error) {
	i := slices.IndexFunc(state.Executions, func(e tarsy.Execution) bool { return e.ID == t.Execution })
	in := agent.Input{
		Session: state.Session, Stage: state.Stages[t.Stage], Execution: state.Executions[i], Runbook: state.Session.Runbook,
	}

	configured, err := agentOf(state, setup.Chain, t.Stage, in.Execution)
	if err != nil {
		return in, chain.Agent{}, err
	}

	// An agent that answers a question works with the remaining servers; missing ones are shown as unavailable.
	optional := in.Stage.StageType == tarsy.StageChat
	if in.Spec, err = describeServers(configured.Spec, configured.Servers, setup.Server, optional); err != nil {
		return in, chain.Agent{}, err
	}

	addTask(&in, state, t.Stage, setup)
	addConversation(&in, state)

	return in, configured, nil
}

// agentOf returns the agent of an execution as currently configured in the chain.
func agentOf(state *progress.State, c chain.Chain, stage int, execution tarsy.Execution) (chain.Agent, error) {
	index := chainIndex(state.Stages, stage)

	switch state.Stages[stage].StageType {
	case tarsy.StageChat:
		if c.Chat == nil {
			return chain.Agent{}, tarsy.Errorf(codeChatDisabled, "the chain no longer accepts questions")
		}

		return *c.Chat, nil
	case tarsy.StageSynthesis:
		if index < len(c.Stages) {
			return c.Stages[index].Synthesis, nil
		}
	case tarsy.StageInvestigation:
		if index < len(c.Stages) {
			if found := agentNamed(c.Stages[index].Agents, execution); found != nil {
				return *found, nil
			}
		}
	}

	return chain.Agent{}, tarsy.Errorf(codeUnknownAgent, "the chain no longer has this agent")
}

// agentNamed finds the agent of an execution by index and name, or by name alone if the stage's agents have changed.
func agentNamed(agents []chain.Agent, execution tarsy.Execution) *chain.Agent {
	if i := execution.AgentIndex - 1; i < len(agents) && agents[i].Spec.Name == execution.AgentName {
		return &agents[i]
	}

	for i := range agents {
		if agents[i].Spec.Name == execution.AgentName {
			return &agents[i]
		}
	}

	return nil
}

// describeServers adds the description of the agent's MCP servers. The servers were checked when the alert was submitted and are checked
// again, because the configuration may have changed since.
func describeServers(
	spec agent.Spec, servers []tarsy.MCPServerSelection, configured func(id string) (chain.Server, bool), optional bool,
) (agent.Spec, error) {
	spec.Digests = map[string]agent.Digest{}

	for _, s := range servers {
		server, ok := configured(s.Name)
		if !ok && !optional {
			return spec, tarsy.Errorf(tarsy.CodeUnknownMCPServer, "MCP server %q is not configured", s.Name)
		}

		if !ok {
			continue
		}

		spec.ServerInstructions = append(spec.ServerInstructions, agent.ServerInstructions{Server: s.Name, Text: server.Instructions})

		if server.Digest != nil {
			spec.Digests[s.Name] = digestFor(*server.Digest, spec)
		}
	}

	return spec, nil
}

// digestFor makes the agent's own model shorten results if the server names none.
func digestFor(d agent.Digest, spec agent.Spec) agent.Digest {
	if d.Provider == "" {
		d.Provider, d.Model, d.Backend = spec.Provider, spec.Model, spec.Backend
	}

	return d
}

// addTask adds what the execution works on, which depends on the type of its stage.
func addTask(in *agent.Input, state *progress.State, stage int, setup Setup) {
	in.EarlierCalls = callsOf(state, state.Stages[:stage])

	switch in.Stage.StageType {
	case tarsy.StageChat:
		in.Question = questionOf(state, in.Stage)
	case tarsy.StageSynthesis:
		in.Investigations = investigationsOf(state, state.Stages[stage-1])
		in.Earlier = resultsOf(state, state.Stages[:stage-1])
	case tarsy.StageInvestigation:
		in.Earlier = resultsOf(state, state.Stages[:stage])
	}

	began, _ := Began(state, setup.Now)
	in.ConcludeAt, in.Deadline = began.Add(setup.ConcludeAfter), began.Add(setup.Timeout)
}

// questionOf returns the question of a chat stage, with the session's history.
func questionOf(state *progress.State, stage tarsy.Stage) *agent.Question {
	q := &agent.Question{
		Stages: slices.Clone(state.Stages), Executions: slices.Clone(state.Executions), Timeline: slices.Clone(state.Timeline),
	}

	for _, m := range state.ChatMessages {
		if stage.ChatUserMessageID != nil && m.ID == *stage.ChatUserMessageID {
			q.Content = m.Content
		}
	}

	return q
}

// addConversation adds what the execution has done so far.
func addConversation(in *agent.Input, state *progress.State) {
	id := in.Execution.ID
	in.Timeline = timelineOf(state, id)

	for _, m := range state.Messages {
		if m.ExecutionID == id {
			in.Messages = append(in.Messages, m)
		}
	}

	for _, c := range state.LLMInteractions {
		if c.ExecutionID != nil && *c.ExecutionID == id {
			in.LLMInteractions = append(in.LLMInteractions, c)
		}
	}

	for _, c := range state.MCPInteractions {
		if c.ExecutionID == id {
			in.MCPInteractions = append(in.MCPInteractions, c)
		}
	}
}
