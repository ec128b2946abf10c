package e2e

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// Three minutes before the end of its forty, a session's agents are told to conclude: further tool calls of the model are
// not made, the remaining stages conclude immediately, and the session completes and reports the reason.
func TestSessionConcludesBeforeItsDeadline(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC))
	tools := oomTools()
	app := tarsytest.New(t, tarsytest.Options{Config: `
defaults: {llm_provider: test, iteration_timeout: 40m}
agents:
  Looker: {mcp_servers: [test-mcp]}
  Closer: {mcp_servers: [test-mcp]}
agent_chains:
  test:
    alert_types: [test]
    stages: [{name: look, agents: [{name: Looker}]}, {name: close, agents: [{name: Closer}]}]
`, MCP: []*tarsytest.MCPServer{tools}, Clock: clock})

	held := script.NewGate()
	slow := tool("get_metrics", `{}`)
	slow.Gate = held
	app.Script.Route("Looker", tool("get_pod_logs", `{}`), slow, says("The logs say OOM; metrics were not read."))
	app.Script.Route("Closer", says("Raise the limit."))
	app.Script.Route("ExecSummaryAgent", says("OOM."))

	sessionID := app.Submit("test", "slow")
	<-held.Reached()
	clock.Advance(37*time.Minute + time.Second)
	held.Open()

	session := app.WaitFor(sessionID, tarsy.SessionCompleted)
	require.Equal(t, "deadline", session.ConcludedEarly)
	require.Equal(t, "Raise the limit.", session.FinalAnalysis)
	require.Len(t, tools.Calls(), 1, "the call that came too late was not made")

	for _, stage := range session.Stages {
		require.Equal(t, tarsy.ForcedDeadline, stage.Executions[0].ForcedConclusion)
	}

	calls := app.Script.Calls()
	require.Empty(t, calls[2].Request.Tools, "a conclusion has no tools")
	require.Empty(t, calls[3].Request.Tools, "nor has a stage that begins late")
	require.Len(t, app.Messages(sessionID), 8+4)
}
