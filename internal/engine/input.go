package engine

import (
	"context"
	"slices"
	"time"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/llm"
)

// The codes of executions that cannot run.
const (
	codeUnknownAgent tarsy.Code = "unknown_agent"
	codeChatDisabled            = tarsy.CodeChatDisabled
)

// input gathers what the database holds of one execution, and what is configured for it now.
func (r *sessionRun) input(recipe chain.Chain, t task) (agent.Input, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	i := slices.IndexFunc(r.state.Executions, func(e tarsy.Execution) bool { return e.ID == t.execution })
	in := agent.Input{
		Session: r.state.Session, Stage: r.state.Stages[t.stage], Execution: r.state.Executions[i],
		Runbook: r.state.Session.Runbook, Recorder: r, Fence: r.lease.Fence, Yield: r.soft,
	}

	if b := r.engine.Budgets; b.Session.caps() || b.Daily.caps() {
		in.Spent = r.spent
	}

	configured, err := r.configured(recipe, t.stage, in.Execution)
	if err != nil {
		return in, err
	}

	in.Spec = configured.Spec
	if err := r.equip(&in, configured.Servers); err != nil {
		return in, err
	}

	r.addTask(&in, t.stage)
	r.addConversation(&in)

	return in, nil
}

// configured finds the agent of an execution in the recipe as it is now.
func (r *sessionRun) configured(recipe chain.Chain, stage int, execution tarsy.Execution) (chain.Agent, error) {
	index := recipeIndex(r.state.Stages, stage)

	switch r.state.Stages[stage].StageType {
	case tarsy.StageChat:
		if recipe.Chat == nil {
			return chain.Agent{}, tarsy.Errorf(codeChatDisabled, "the chain no longer takes questions")
		}

		return *recipe.Chat, nil
	case tarsy.StageSynthesis:
		if index < len(recipe.Stages) {
			return recipe.Stages[index].Synthesis, nil
		}
	case tarsy.StageInvestigation:
		if index < len(recipe.Stages) {
			if found := agentOf(recipe.Stages[index].Agents, execution); found != nil {
				return *found, nil
			}
		}
	}

	return chain.Agent{}, tarsy.Errorf(codeUnknownAgent, "the chain no longer has this agent")
}

// agentOf finds the agent of an execution by its place and its name, or by its name where the stage has others now.
func agentOf(agents []chain.Agent, execution tarsy.Execution) *chain.Agent {
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

// equip gives an execution its tools: the alert's selection replaces the configured servers. What was checked when
// the alert came in is checked again, for the configuration may have changed since.
func (r *sessionRun) equip(in *agent.Input, configured []tarsy.MCPServerSelection) error {
	servers := configured

	if selection := r.state.Session.MCPSelection; in.Spec.Strategy != agent.Synthesis {
		servers = toolServers(selection, configured)
		in.Spec.NativeTools = overridden(in.Spec.NativeTools, selection)
		in.Spec.Fallbacks = slices.Clone(in.Spec.Fallbacks)

		for i := range in.Spec.Fallbacks {
			in.Spec.Fallbacks[i].NativeTools = overridden(in.Spec.Fallbacks[i].NativeTools, selection)
		}
	}

	in.Spec.Digests = map[string]agent.Digest{}

	for _, s := range servers {
		server, ok := r.engine.Server(s.Name)
		if !ok {
			return tarsy.Errorf(tarsy.CodeUnknownMCPServer, "MCP server %q is not configured", s.Name)
		}

		in.Spec.ServerInstructions = append(in.Spec.ServerInstructions, agent.ServerInstructions{Server: s.Name, Text: server.Instructions})

		if server.Digest != nil {
			in.Spec.Digests[s.Name] = digestFor(*server.Digest, in.Spec)
		}
	}

	if len(servers) > 0 {
		in.OpenTools = func(ctx context.Context) (agent.Tools, error) {
			return r.engine.OpenTools(ctx, in.Execution.ID, servers)
		}
	}

	return nil
}

// toolServers chooses the MCP servers of an execution.
func toolServers(selection *tarsy.MCPSelection, configured []tarsy.MCPServerSelection) []tarsy.MCPServerSelection {
	if selection == nil {
		return configured
	}

	return selection.Servers
}

// digestFor lets the agent's own model shorten results where the server names none.
func digestFor(d agent.Digest, spec agent.Spec) agent.Digest {
	if d.Provider == "" {
		d.Provider, d.Model, d.Backend = spec.Provider, spec.Model, spec.Backend
	}

	return d
}

// overridden lays what an alert says about the provider's own tools over what is configured.
func overridden(tools llm.NativeTools, selection *tarsy.MCPSelection) llm.NativeTools {
	if selection == nil || selection.NativeTools == nil {
		return tools
	}

	says := selection.NativeTools

	for _, o := range []struct {
		tool *bool
		says *bool
	}{
		{&tools.GoogleSearch, says.GoogleSearch}, {&tools.CodeExecution, says.CodeExecution}, {&tools.URLContext, says.URLContext},
	} {
		if o.says != nil {
			*o.tool = *o.says
		}
	}

	return tools
}

// addTask adds what the execution works on, by the kind of its stage.
func (r *sessionRun) addTask(in *agent.Input, stage int) {
	begun := in.Stage.CreatedAt
	in.EarlierCalls = r.calls(r.state.Stages[:stage])

	switch in.Stage.StageType {
	case tarsy.StageChat:
		in.Question = r.question(in.Stage)
	case tarsy.StageSynthesis:
		in.Investigations = r.investigations(r.state.Stages[stage-1])
		in.Earlier = r.results(r.state.Stages[:stage-1])
		begun = *r.state.Session.StartedAt
	case tarsy.StageInvestigation:
		in.Earlier = r.results(r.state.Stages[:stage])
		begun = *r.state.Session.StartedAt
	}

	in.ConcludeAt = begun.Add(r.engine.SessionTimeout - r.engine.WrapUp)
}

// question is what a chat stage answers, with all that is known.
func (r *sessionRun) question(stage tarsy.Stage) *agent.Question {
	q := &agent.Question{
		Stages: slices.Clone(r.state.Stages), Executions: slices.Clone(r.state.Executions), Timeline: slices.Clone(r.state.Timeline),
	}

	for _, m := range r.state.ChatMessages {
		if stage.ChatUserMessageID != nil && m.ID == *stage.ChatUserMessageID {
			q.Content = m.Content
		}
	}

	return q
}

// addConversation adds what the execution has done so far.
func (r *sessionRun) addConversation(in *agent.Input) {
	id := in.Execution.ID
	in.Timeline = r.timeline(id)

	for _, m := range r.state.Messages {
		if m.ExecutionID == id {
			in.Messages = append(in.Messages, m)
		}
	}

	for _, c := range r.state.LLMInteractions {
		if c.ExecutionID != nil && *c.ExecutionID == id {
			in.LLMInteractions = append(in.LLMInteractions, c)
		}
	}

	for _, c := range r.state.MCPInteractions {
		if c.ExecutionID == id {
			in.MCPInteractions = append(in.MCPInteractions, c)
		}
	}
}

// wrapUp is how long before the end of a session its agents are told to conclude: three minutes of the usual forty.
func wrapUp(timeout time.Duration) time.Duration {
	const usual, share = 3 * time.Minute, 10

	return min(usual, timeout/share)
}
