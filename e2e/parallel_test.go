package e2e

import (
	"errors"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// twoWithTools has a stage of two agents with tools, and a stage after it.
const twoWithTools = `
agents:
  Metrics: {mcp_servers: [test-mcp]}
  Events: {mcp_servers: [test-mcp]}
  Closer: {custom_instructions: Conclude.}
agent_chains:
  test:
    alert_types: [test]
    stages:
      - {name: look, success_policy: %s, agents: [{name: Metrics}, {name: Events}]}
      - {name: close, agents: [{name: Closer}]}
`

// One of two agents fails: with the policy any the stage succeeds, the synthesis works with what there is, and the chain continues.
func TestPolicyAny(t *testing.T) {
	t.Parallel()

	tools := oomTools()
	app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(twoWithTools, "any"), MCP: []*tarsytest.MCPServer{tools}})
	app.Script.Route("Metrics", tool("get_metrics", `{}`), says("Memory grows."))
	app.Script.Route("Events", tool("get_events", `{}`), script.Reply{Err: errors.New("overloaded")})
	app.Script.Route("SynthesisAgent", says("Memory grows; events are unknown."))
	app.Script.Route("Closer", says("It is a leak."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	session := app.Run("test", "policy any")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "It is a leak.", session.FinalAnalysis)
	require.Equal(t, []string{"look", "look - Synthesis", "close"}, stageNames(session))
	require.Equal(t, tarsy.StatusCompleted, session.Stages[0].Status)
	require.Equal(t, tarsy.ParallelMultiAgent, *session.Stages[0].ParallelType)
	require.Equal(t, tarsy.PolicyAny, *session.Stages[0].SuccessPolicy)
	require.Equal(t, tarsy.StatusCompleted, session.Stages[0].Executions[0].Status)
	require.Equal(t, tarsy.StatusFailed, session.Stages[0].Executions[1].Status)
	require.Equal(t, "overloaded", session.Stages[0].Executions[1].ErrorMessage)
	require.Equal(t, tarsy.StageSynthesis, session.Stages[1].StageType)
	require.Len(t, tools.Calls(), 2, "both agents used their tools")

	material := requestOf(t, app, "SynthesisAgent")
	require.Empty(t, material.Tools)
	require.Contains(t, material.Messages[1].Content, "Memory grows.")
	require.Contains(t, material.Messages[1].Content, "overloaded", "the synthesis knows who failed, and why")
	requireReleased(t, app)

	n := app.Normalizer(session.ID)
	tarsytest.GoldenJSON(t, n, "parallel_any/session.golden", session)
	tarsytest.GoldenJSON(t, n, "parallel_any/timeline.golden", n.Timeline(app.Timeline(session.ID)))
}

// Neither agent gets a reply before both have asked: agents that ran one after the other would wait forever.
func TestAgentsOfStageRunConcurrently(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(twoWithTools, "all"), MCP: []*tarsytest.MCPServer{oomTools()}})

	var gates []*script.Gate

	for _, agent := range []string{"Metrics", "Events"} {
		held := says("Found by " + agent + ".")
		held.Gate = script.NewGate()
		gates = append(gates, held.Gate)
		app.Script.Route(agent, held)
	}

	app.Script.Route("SynthesisAgent", says("Found by both."))
	app.Script.Route("Closer", says("It is a leak."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	socket := app.Watch(app.Submit("test", "both at once"))

	for _, gate := range gates {
		wait.For(t, gate.Reached(), "an agent, which may wait for the other one to finish")
	}

	for _, gate := range gates {
		gate.Open()
	}

	socket.WaitStatus("completed")
}

// With the policy all, one failure fails the stage, after the other agent has finished; later stages do not run.
func TestPolicyAll(t *testing.T) {
	t.Parallel()

	tools := oomTools()
	app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(twoWithTools, "all"), MCP: []*tarsytest.MCPServer{tools}})
	held := script.NewGate()
	slow := says("Memory grows.")
	slow.Gate = held
	app.Script.Route("Metrics", tool("get_metrics", `{}`), slow)
	app.Script.Route("Events", script.Reply{Err: errors.New("overloaded")})

	sessionID := app.Submit("test", "policy all")
	socket := app.Watch(sessionID)
	socket.Wait("the failure of Events", func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeExecutionStatus && e.Fields["agent_name"] == "Events" && e.Fields["status"] == "failed"
	})
	<-held.Reached()
	require.Equal(t, tarsy.StatusActive, app.Session(sessionID).Stages[0].Status, "all agents finish before the policy decides")
	held.Open()
	socket.WaitStatus("failed")

	session := app.Session(sessionID)
	require.Equal(t, []string{"look"}, stageNames(session), "neither a synthesis nor the next stage")
	require.Equal(t, tarsy.StatusFailed, session.Stages[0].Status)
	require.Equal(t, "Events (failed): overloaded", session.Stages[0].ErrorMessage)
	require.Equal(t, `stage "look": Events (failed): overloaded`, session.ErrorMessage)
	require.Equal(t, "stage_failed", session.ErrorCode)
	require.Equal(t, tarsy.StatusCompleted, session.Stages[0].Executions[0].Status)
	requireReleased(t, app)

	n := app.Normalizer(sessionID)
	tarsytest.GoldenJSON(t, n, "parallel_all/session.golden", session)
}

// Three replicas of one agent are three executions with different names and the same configuration.
func TestReplicas(t *testing.T) {
	t.Parallel()

	tools := oomTools()
	app := tarsytest.New(t, tarsytest.Options{MCP: []*tarsytest.MCPServer{tools}, Config: `
agents:
  Metrics: {mcp_servers: [test-mcp], custom_instructions: Count twice.}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, replicas: 3, agents: [{name: Metrics}]}]
`})

	for i := range 3 {
		app.Script.Route(fmt.Sprintf("Metrics-%d", i+1), tool("get_metrics", fmt.Sprintf(`{"replica":%d}`, i+1)), says(fmt.Sprintf("I counted %d.", i+1)))
	}

	app.Script.Route("SynthesisAgent", says("Three counts, one leak."))
	app.Script.Route("ExecSummaryAgent", says("A leak."))

	session := app.Run("test", "replicas")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "Three counts, one leak.", session.FinalAnalysis)
	require.Equal(t, []string{"look", "look - Synthesis"}, stageNames(session))

	stage := session.Stages[0]
	require.Equal(t, 3, stage.ExpectedAgentCount)
	require.Equal(t, tarsy.ParallelReplica, *stage.ParallelType)
	require.Equal(t, tarsy.PolicyAny, *stage.SuccessPolicy, "any is the default")

	for i, e := range stage.Executions {
		require.Equal(t, fmt.Sprintf("Metrics-%d", i+1), e.AgentName)
		require.Equal(t, i+1, e.AgentIndex)
		require.Contains(t, requestOf(t, app, e.AgentName).Messages[0].Content, "Count twice.")
	}

	require.Len(t, tools.Calls(), 3)

	material := requestOf(t, app, "SynthesisAgent").Messages[1].Content
	for i := range 3 {
		require.Contains(t, material, fmt.Sprintf("I counted %d.", i+1))
	}

	n := app.Normalizer(session.ID)
	tarsytest.GoldenJSON(t, n, "replicas/session.golden", session)
	tarsytest.GoldenJSON(t, n, "replicas/mcp_interactions.golden", n.MCPInteractions(app.MCPInteractions(session.ID)))
}

// A synthesis that fails ends the session: later stages would have no basis.
func TestSynthesisFailureFailsSession(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(twoWithTools, "any"), MCP: []*tarsytest.MCPServer{oomTools()}})
	app.Script.Route("Metrics", says("Memory grows."))
	app.Script.Route("Events", says("It was killed."))
	app.Script.Route("SynthesisAgent", script.Reply{Err: errors.New("context too long")})

	session := app.Run("test", "synthesis fails")
	require.Equal(t, tarsy.SessionFailed, session.Status)
	require.Equal(t, `stage "look - Synthesis": context too long`, session.ErrorMessage)
	require.Equal(t, []string{"look", "look - Synthesis"}, stageNames(session))
	require.Equal(t, tarsy.StatusCompleted, session.Stages[0].Status, "the agents' work is kept")
	require.Empty(t, session.FinalAnalysis)
}

// The agents' findings are too long for every model: the session completes with their analyses, and reports that.
func TestSynthesisTooLongForModelCompletesWithAnalyses(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: `
agents: {Metrics: {}, Events: {}}
agent_chains: {test: {alert_types: [test], stages: [{name: look, agents: [{name: Metrics}, {name: Events}]}]}}
`})
	app.Script.Route("Metrics", says("Memory grows."))
	app.Script.Route("Events", says("It was killed."))

	tooLong := script.Reply{Err: llm.ErrorOfStatus(http.StatusBadRequest, nil, "context_length_exceeded", "too many tokens")}
	app.Script.Route("SynthesisAgent", tooLong, tooLong)
	app.Script.Route("ExecSummaryAgent", says("Killed."))

	session := app.Run("test", "synthesis is too long")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "## Metrics\n\nMemory grows.\n\n## Events\n\nIt was killed.", session.FinalAnalysis)
	require.Equal(t, "Killed.", session.ExecutiveSummary)

	note := event(t, app.Timeline(session.ID), tarsy.EventError)
	require.Contains(t, note.Content, "there is no synthesis")
	require.Len(t, app.Script.Calls(), 5, "the synthesis is shortened and retried once")
}

// One session has both an agent that fails under the policy any, and a summary that fails. It completes.
func TestFailureResilience(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(twoWithTools, "any"), MCP: []*tarsytest.MCPServer{oomTools()}})
	app.Script.Route("Metrics", script.Reply{Err: errors.New("quota exceeded")})
	app.Script.Route("Events", says("It was killed."))
	app.Script.Route("SynthesisAgent", says("Killed, memory unknown."))
	app.Script.Route("Closer", says("Look at the memory."))
	app.Script.Route("ExecSummaryAgent", script.Reply{Err: errors.New("no tokens left")})

	session := app.Run("test", "resilience")
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "Look at the memory.", session.FinalAnalysis)
	require.Empty(t, session.ExecutiveSummary)
	require.Equal(t, "no tokens left", session.ExecutiveSummaryError)
	require.Empty(t, session.ErrorMessage)
}

// Every agent of a stage fails: the session fails with the name and the error of each, and the next stage does not begin.
func TestFailurePropagation(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(twoWithTools, "all"), MCP: []*tarsytest.MCPServer{oomTools()}})
	app.Script.Route("Metrics", script.Reply{Err: errors.New("quota exceeded")})
	app.Script.Route("Events", script.Reply{Err: errors.New("overloaded")})

	session := app.Run("test", "propagation")
	require.Equal(t, tarsy.SessionFailed, session.Status)
	require.Equal(t, "stage \"look\": Metrics (failed): quota exceeded\nEvents (failed): overloaded", session.ErrorMessage)
	require.Equal(t, []string{"look"}, stageNames(session))
	require.Equal(t, 2, app.Script.CallCount())
}
