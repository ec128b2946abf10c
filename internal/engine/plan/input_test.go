package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/calendar"
	"tarsy.dev/tarsy/internal/chain"
	"tarsy.dev/tarsy/internal/progress"
)

func TestExecutionUsesCurrentConfiguration(t *testing.T) {
	t.Parallel()

	own := agent.Spec{Provider: "agent's", Model: "agent's model", Backend: "agent's backend", Strategy: agent.FunctionCalling}
	servers := map[string]chain.Server{
		"plain":   {Instructions: "be gentle"},
		"long":    {Digest: &agent.Digest{Threshold: 10, MaxTokens: 5}},
		"special": {Digest: &agent.Digest{Threshold: 20, MaxTokens: 6, Provider: "another", Model: "its model"}},
	}
	// equip returns the input of the only agent of a chain, and the agent.
	equip := func(spec agent.Spec, configured ...string) (agent.Input, chain.Agent, error) {
		started := time.Unix(0, 0)
		only := chain.Agent{Spec: spec, ToolRules: []agent.ToolRule{{ReadOnly: true}}}

		for _, id := range configured {
			only.Servers = append(only.Servers, tarsy.MCPServerSelection{Name: id})
		}

		return Input(&progress.State{
			Session: tarsy.Session{StartedAt: &started},
			Stages:  []tarsy.Stage{{ID: "s", StageType: tarsy.StageInvestigation}}, Executions: []tarsy.Execution{{ID: "e", StageID: "s", AgentIndex: 1}},
		}, Setup{
			Chain: chain.Chain{Stages: []chain.Stage{{Agents: []chain.Agent{only}}}},
			Server: func(id string) (chain.Server, bool) {
				server, ok := servers[id]

				return server, ok
			},
		}, Task{Kind: RunExecution, Execution: "e"})
	}
	names := func(in agent.Input) []string {
		all := []string{}
		for _, s := range in.Spec.ServerInstructions {
			all = append(all, s.Server)
		}

		return all
	}

	in, equipped, err := equip(own, "plain", "long", "special")
	require.NoError(t, err)
	require.Equal(t, []string{"plain", "long", "special"}, names(in))
	require.Equal(t, "be gentle", in.Spec.ServerInstructions[0].Text)
	require.Equal(t, map[string]agent.Digest{
		"long":    {Threshold: 10, MaxTokens: 5, Provider: "agent's", Model: "agent's model", Backend: "agent's backend"},
		"special": {Threshold: 20, MaxTokens: 6, Provider: "another", Model: "its model"},
	}, in.Spec.Digests)
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "plain"}, {Name: "long"}, {Name: "special"}}, equipped.Servers)
	require.Equal(t, []agent.ToolRule{{ReadOnly: true}}, equipped.ToolRules)

	_, _, err = equip(own, "gone")
	require.Equal(t, tarsy.CodeUnknownMCPServer, tarsy.CodeOf(err), "an agent's own server can be gone too")
}

func TestAnswersSkipServersNoLongerConfigured(t *testing.T) {
	t.Parallel()

	both := []tarsy.MCPServerSelection{{Name: "gone"}, {Name: "there"}}
	in, equipped, err := Input(&progress.State{
		Stages: []tarsy.Stage{{ID: "s", StageType: tarsy.StageChat}}, Executions: []tarsy.Execution{{ID: "e", StageID: "s", AgentIndex: 1}},
	}, Setup{
		Chain:  chain.Chain{Chat: &chain.Agent{Servers: both}},
		Server: func(id string) (chain.Server, bool) { return chain.Server{Instructions: "be gentle"}, id == "there" },
	}, Task{Kind: RunExecution, Execution: "e"})
	require.NoError(t, err)
	require.Equal(t, both, equipped.Servers, "the one that is gone is reported as unavailable when it is opened")
	require.Equal(t, []agent.ServerInstructions{{Server: "there", Text: "be gentle"}}, in.Spec.ServerInstructions)
}

func TestOnlyEarlierStagesCallsMayBeCited(t *testing.T) {
	t.Parallel()

	started := calendar.Time(time.Now())
	call := func(id, stage, number string) tarsy.TimelineEvent {
		return tarsy.TimelineEvent{
			ID: id, StageID: &stage, EventType: tarsy.EventToolCall, Metadata: tarsy.NewMetadata(tarsy.ToolCallMetadata{Call: number}),
		}
	}
	state := &progress.State{
		Session: tarsy.Session{StartedAt: &started},
		Stages: []tarsy.Stage{
			{ID: "one", StageType: tarsy.StageInvestigation}, {ID: "two", StageType: tarsy.StageInvestigation}, {ID: "three", StageType: tarsy.StageChat},
		},
		Timeline: []tarsy.TimelineEvent{
			call("a", "one", "1.1.1"), call("old", "one", ""), {ID: "s", EventType: tarsy.EventExecutiveSummary}, call("b", "two", "2.1.1"),
			call("c", "two", "2.2.1"), call("d", "three", "3.1.1"),
		},
	}

	for stage, want := range map[int][]tarsy.Citation{
		0: nil,
		1: {{Call: "1.1.1", EventID: "a"}},
		2: {{Call: "1.1.1", EventID: "a"}, {Call: "2.1.1", EventID: "b"}, {Call: "2.2.1", EventID: "c"}},
	} {
		in := agent.Input{Stage: state.Stages[stage]}
		addTask(&in, state, stage, Setup{})
		require.Equal(t, want, in.EarlierCalls, "stage %d: what other agents of the stage do is nothing that an agent has seen", stage)
	}
}
