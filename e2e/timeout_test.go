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

// beginning returns where fake clocks start; sub-microseconds would not survive the database.
func beginning() time.Time { return time.Date(2030, time.March, 1, 12, 0, 0, 0, time.UTC) }

func TestSessionTimesOut(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	// The model can take as long as it wants: the session's own limit ends it.
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, Config: "defaults: {llm_provider: test, iteration_timeout: 2h}\n" + oneAgent})
	gate := script.NewGate()
	app.Script.Add(script.Reply{Text: "I think that I will never", Gate: gate, GateAfter: 3})

	sessionID := app.Submit("test", "takes for ever")
	app.WaitGate(gate)
	clock.Advance(40 * time.Minute)

	session := app.WaitFor(sessionID, tarsy.SessionTimedOut)
	require.Equal(t, "session_timeout", session.ErrorCode)
	require.Equal(t, "the session took longer than 40m0s", session.ErrorMessage)
	require.Equal(t, beginning(), session.CreatedAt.UTC())
	require.Equal(t, beginning().Add(40*time.Minute), session.CompletedAt.UTC())
	require.Equal(t, tarsy.StatusTimedOut, session.Stages[0].Status)
	require.Equal(t, tarsy.StatusTimedOut, session.Stages[0].Executions[0].Status)
	require.Equal(t, []string{"pending", "in_progress", "timed_out"}, statuses(app, sessionID))

	text := event(t, app.Timeline(sessionID), tarsy.EventResponse)
	require.Equal(t, tarsy.EventTimedOut, text.Status)
	require.Equal(t, "I think that ", text.Content)
	requireReleased(t, app)
}

func TestSessionTimeoutInterruptsTool(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	tool := newHeldTool()
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "wait", Handle: tool.handle})
	app := tarsytest.New(t, tarsytest.Options{
		Clock: clock, MCP: []*tarsytest.MCPServer{kubernetes},
		// This is less than a tool call may take.
		Config: "queue: {session_timeout: 1m}\n" + kubernetesAgent,
	})
	app.Script.Add(calls("kubernetes__wait"))

	sessionID := app.Submit("test", "takes for ever")
	app.Await(tool.reached, "the tool call")
	clock.Advance(time.Minute)

	session := app.WaitFor(sessionID, tarsy.SessionTimedOut)
	requireClosed(t, app, session, "timed_out")
	require.Equal(t, tarsy.EventTimedOut, event(t, app.Timeline(sessionID), tarsy.EventToolCall).Status)
	require.Equal(t, tarsy.CallUnknown, app.MCPInteractions(sessionID)[0].Status)
	requireReleased(t, app)
}

// A call that is too slow once is retried.
func TestSlowLLMCallIsRetried(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock})
	slow := script.NewGate()
	app.Script.Add(script.Reply{Text: "so very slow", Gate: slow, GateAfter: 1}, says("Quick now."), says("Quick."))

	sessionID := app.Submit("test", "slow once")
	app.WaitGate(slow)
	clock.Advance(120 * time.Second)

	session := app.WaitFor(sessionID, tarsy.SessionCompleted, tarsy.SessionFailed, tarsy.SessionTimedOut)
	require.Equal(t, tarsy.SessionCompleted, session.Status)
	require.Equal(t, "Quick now.", session.FinalAnalysis)

	interactions := scriptedCalls(app, sessionID)
	require.Len(t, interactions, 3)
	require.Equal(t, "iteration_timeout", interactions[0].ErrorCode)
	require.Equal(t, int64(120_000), interactions[0].DurationMs)
	require.Empty(t, interactions[1].ErrorCode)

	timeline := app.Timeline(sessionID)
	require.Equal(t, tarsy.EventTimedOut, timeline[0].Status)
	require.Equal(t, "so ", timeline[0].Content)
	require.Equal(t, tarsy.EventCompleted, timeline[1].Status)
	require.Len(t, app.Script.Calls()[1].Request.Messages, 2, "what was cut off is not part of the conversation")
}

func TestTwoConsecutiveSlowLLMCallsFailExecution(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	app := tarsytest.New(t, tarsytest.Options{Clock: clock})
	first, second := script.NewGate(), script.NewGate()
	app.Script.Add(script.Reply{Text: "slow", Gate: first}, script.Reply{Text: "slow again", Gate: second})

	sessionID := app.Submit("test", "slow twice")
	app.WaitGate(first)
	clock.Advance(120 * time.Second)
	app.WaitGate(second)
	clock.Advance(120 * time.Second)

	session := app.WaitFor(sessionID, tarsy.SessionTimedOut)
	execution := session.Stages[0].Executions[0]
	require.Equal(t, tarsy.StatusTimedOut, execution.Status)
	require.Equal(t, "iteration_timeout", execution.ErrorCode)
	require.Equal(t, "2 LLM calls in a row took longer than 2m0s", execution.ErrorMessage)
	require.Equal(t, tarsy.StatusTimedOut, session.Stages[0].Status)
	require.Equal(t, "iteration_timeout", session.ErrorCode)
	require.Contains(t, session.ErrorMessage, execution.ErrorMessage)

	shown := event(t, app.Timeline(sessionID), tarsy.EventError)
	require.Equal(t, execution.ErrorMessage, shown.Content)
	require.Len(t, app.Script.Calls(), 2, "no summary of a session that timed out")
	requireReleased(t, app)
}

func TestSlowToolIsReportedToModel(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClockAt(beginning())
	tool := newHeldTool()
	kubernetes := tarsytest.NewMCPServer("kubernetes", tarsytest.Tool{Name: "wait", Handle: tool.handle})
	app := tarsytest.New(t, tarsytest.Options{Clock: clock, MCP: []*tarsytest.MCPServer{kubernetes}})
	app.Script.Add(calls("kubernetes__wait"), says("The tool is too slow."), says("Too slow."))

	sessionID := app.Submit("test", "a slow tool")
	app.Await(tool.reached, "the tool call")
	clock.Advance(90 * time.Second)

	session := app.WaitFor(sessionID, tarsy.SessionCompleted, tarsy.SessionFailed, tarsy.SessionTimedOut)
	require.Equal(t, tarsy.SessionCompleted, session.Status)

	interaction := app.MCPInteractions(sessionID)[0]
	require.Equal(t, tarsy.CallUnknown, interaction.Status, "a tool that may write may have written")
	require.Contains(t, interaction.ToolResult, "timed out after 90s")
	require.Len(t, kubernetes.Calls(), 1, "the call is not made again")
}
