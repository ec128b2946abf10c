package e2e

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// budgetChain investigates in one stage, under budgets.
const budgetChain = `
system:
  cost_estimation: {model_rates: {test-model: {input_per_million: 1000, output_per_million: 2000}}}
  budgets: {%s}
agents: {Investigator: {mcp_servers: [test-mcp]}}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: analysis, agents: [{name: Investigator}]}]
    chat: {enabled: true}
`

func budgetApp(t *testing.T, budgets, database string) *tarsytest.App {
	t.Helper()

	return tarsytest.New(t, tarsytest.Options{
		Config: fmt.Sprintf(budgetChain, budgets), MCP: []*tarsytest.MCPServer{oomTools()}, Database: database,
	})
}

// used returns the reply with this token usage.
func used(reply script.Reply, input, output int) script.Reply {
	reply.Usage = &llm.UsageChunk{InputTokens: input, OutputTokens: output}

	return reply
}

// A session that reaches a budget is asked to conclude, and completes with what is known by then.
func TestExhaustedBudgetConcludesSession(t *testing.T) {
	t.Parallel()

	// Each look uses 1,100 tokens, costs 1.2 USD and makes one tool call.
	for name, budgets := range map[string]string{
		"tokens of a session":     "session: {max_tokens: 2000}",
		"cost of a session":       "session: {max_cost_usd: 2}",
		"tool calls of a session": "session: {max_tool_calls: 2}",
		"tokens of a day":         "daily: {max_tokens: 2000}",
		"cost of a day":           "daily: {max_cost_usd: 2}",
		"tool calls of a day":     "daily: {max_tool_calls: 2}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			app := budgetApp(t, budgets, "")
			look := used(tool("get_pod_logs", `{"pod":"app-1"}`), 1000, 100)
			app.Script.Route("Investigator", look, look, used(says("What I know so far."), 10, 10))
			app.Script.Route("ExecSummaryAgent", says("In short."))

			sessionID := app.Submit("test", "app-1 was OOM-killed")
			app.Watch(sessionID).WaitStatus("completed")

			session := app.Session(sessionID)
			require.Equal(t, "budget", session.ConcludedEarly)
			require.Equal(t, "What I know so far.", session.FinalAnalysis)
			require.Equal(t, "In short.", session.ExecutiveSummary)
			require.Equal(t, tarsy.ForcedBudget, session.Stages[0].Executions[0].ForcedConclusion)
			require.Empty(t, app.Script.Unused())

			last := app.Script.Calls()[2].Request
			require.Empty(t, last.Tools)
			require.Contains(t, last.Messages[len(last.Messages)-1].Content, "The budget is spent")
		})
	}
}

// Usage is derived from the database, so neither another server nor the next question starts at zero.
func TestExhaustedBudgetSurvivesRestart(t *testing.T) {
	t.Parallel()

	app := budgetApp(t, "daily: {max_tokens: 1000}", "")
	app.Script.Add(used(says("The root cause."), 900, 200), says("In short."))

	sessionID := app.Submit("test", "app-1 was OOM-killed")
	app.Watch(sessionID).WaitStatus("completed")
	require.Empty(t, app.Session(sessionID).ConcludedEarly)
	app.Stop()

	again := budgetApp(t, "daily: {max_tokens: 1000}", app.Database)
	again.Script.Add(says("What the alert says."), says("In short."))

	next := again.Submit("test", "app-2 was OOM-killed")
	again.Watch(next).WaitStatus("completed")
	require.Equal(t, "budget", again.Session(next).ConcludedEarly)
	require.Empty(t, again.Script.Calls()[0].Request.Tools)

	again.Script.Add(says("It was the cache."))
	again.Watch(sessionID).WaitStage(again.Ask(sessionID, "Why?").StageID)
	require.Empty(t, again.Script.Calls()[2].Request.Tools, "a question is answered from what is known")
}

// The cost is shown for a session's calls, executions and stages, and for the session.
func TestCostIsSummedUp(t *testing.T) {
	t.Parallel()

	app := budgetApp(t, "", "")
	app.Script.Route("Investigator", used(tool("get_pod_logs", `{"pod":"app-1"}`), 1000, 100), used(says("The root cause."), 2000, 50))
	app.Script.Route("ExecSummaryAgent", used(says("In short."), 100, 0))

	sessionID := app.Submit("test", "app-1 was OOM-killed")
	app.Watch(sessionID).WaitStatus("completed")

	const exact = 1e-9

	trace := app.Trace(sessionID)
	execution := trace.Stages[0].Executions[0]
	require.InDelta(t, 1.2, execution.LLMInteractions[0].Usage.CostUSD, exact)
	require.InDelta(t, 3.3, execution.Usage.CostUSD, exact)
	require.InDelta(t, 3.3, trace.Stages[0].Usage.CostUSD, exact)
	require.InDelta(t, 3.4, trace.Usage.CostUSD, exact)

	session := app.Session(sessionID)
	require.InDelta(t, 3.4, session.Usage.CostUSD, exact)
	require.InDelta(t, 3.3, session.Stages[0].Usage.CostUSD, exact)
	require.InDelta(t, 3.3, session.Stages[0].Executions[0].Usage.CostUSD, exact)
	require.Zero(t, session.Usage.UnpricedTokens)
	require.Equal(t, 3250, session.Usage.TotalTokens)
}
