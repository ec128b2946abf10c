package e2e

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// A server is told to stop while one session is in an LLM call and another one in a tool call. The first is handed over
// immediately; the second when its tool call, for which the server waits, is finished. Only the LLM call is repeated. The
// lease is so long that nobody takes over by waiting for its end.
func TestStoppingServerHandsOverItsSessions(t *testing.T) {
	t.Parallel()

	asking, calling := newInvestigation(t, "asking", twoTools()), newInvestigation(t, "calling", twoTools())
	answer, tool := asking.HoldCall(callSecond, 6), calling.HoldSecond(toolRestart, insideTool)

	w := newWorld(t, worldOptions{Lease: 10 * patience}, asking, calling)
	stopping := w.Start()

	w.SubmitAndWatch(asking)
	w.SubmitAndWatch(calling)
	await(t, answer.Reached(), "the LLM call")
	await(t, tool.reached, "the tool call")

	other := w.Start()

	require.Equal(t, http.StatusOK, stopping.Ready())
	stopping.Signal(syscall.SIGTERM)
	stopping.WaitReady(http.StatusServiceUnavailable)

	// The tool call still keeps the server running.
	asking.Socket.WaitStatus("completed")
	require.Equal(t, http.StatusServiceUnavailable, stopping.Ready())
	require.Equal(t, http.StatusOK, other.Ready())

	tool.Open()
	calling.Socket.WaitStatus("completed")
	require.Zero(t, stopping.WaitExit(), "log:\n%s", stopping.Log)

	for _, i := range []*investigation{asking, calling} {
		w.requireTwoTools(t, i)
		require.Equal(t, other.ServerID, w.Session(i.SessionID).PodID)
	}

	require.Equal(t, eachOnce(callSecond), asking.Asked())
	require.Equal(t, eachOnce(), calling.Asked())
	require.Equal(t, []deskCall{{Tool: toolLook}, {Tool: toolRestart}}, withoutIDs(calling.Desk.Seen()))
	require.Equal(t, analysisOf(toolRestart+" is done"), w.Session(calling.SessionID).FinalAnalysis)
}

// A tool call that outlasts the grace period is cut off and handed over with the session.
func TestStoppingServerInterruptsToolCallsAfterGracePeriod(t *testing.T) {
	t.Parallel()

	calling := newInvestigation(t, "calling", twoTools())
	tool := calling.HoldSecond(toolInspect, insideTool)

	w := newWorld(t, worldOptions{Lease: 10 * patience, Grace: 1}, calling)
	stopping := w.Start()

	w.SubmitAndWatch(calling)
	await(t, tool.reached, "the tool call")
	stopping.Signal(syscall.SIGTERM)
	require.Zero(t, stopping.WaitExit(), "log:\n%s", stopping.Log)

	w.Start()
	calling.Socket.WaitStatus("completed")
	w.requireTwoTools(t, calling)
	require.Equal(t, []deskCall{{Tool: toolLook}, {Tool: toolInspect}, {Tool: toolInspect}}, withoutIDs(calling.Desk.Seen()))
}

// A second signal stops the server immediately.
func TestSecondSignalStopsServerImmediately(t *testing.T) {
	t.Parallel()

	calling := newInvestigation(t, "calling", twoTools())
	tool := calling.HoldSecond(toolInspect, insideTool)

	w := newWorld(t, worldOptions{Grace: 10 * patience}, calling)
	stopping := w.Start()

	w.SubmitAndWatch(calling)
	await(t, tool.reached, "the tool call")
	stopping.Signal(syscall.SIGTERM)
	stopping.WaitReady(http.StatusServiceUnavailable)
	stopping.Signal(syscall.SIGTERM)
	require.Equal(t, killedBySignal, stopping.WaitExit())

	// To the other servers it looks like a killed one.
	w.Start()
	calling.Socket.WaitStatus("completed")
	w.requireTwoTools(t, calling)
}
