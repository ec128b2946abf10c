package e2e

import (
	"net/http"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/tarsytest"
)

// A server is frozen past its lease, during LLM calls and tool calls, and another one takes over. When the first one thaws,
// all answers but one have arrived; it changes nothing and makes no further calls.
func TestFrozenServerWritesNothingAfterThaw(t *testing.T) {
	t.Parallel()

	asking, waiting := newInvestigation(t, "asking", twoTools()), newInvestigation(t, "waiting", twoTools())
	reading, writing := newInvestigation(t, "reading", twoTools()), newInvestigation(t, "writing", twoTools())
	answer, reachNever := asking.HoldCall(callSecond, 0), holdSecondMidText(waiting) // so that there is a part of its text to save
	read, write := reading.HoldSecond(toolInspect, insideTool), writing.HoldSecond(toolRestart, insideTool)
	all := []*investigation{asking, waiting, reading, writing}

	w := newWorld(t, worldOptions{}, all...)
	frozen := w.Start()

	for _, i := range all {
		w.SubmitAndWatch(i)
	}

	await(t, answer.Reached(), "the LLM call")
	reachNever()
	await(t, read.reached, "the tool call that reads")
	await(t, write.reached, "the tool call that writes")
	frozen.Signal(syscall.SIGSTOP)

	other := w.Start()

	for _, i := range all {
		i.Socket.WaitStatus("completed")
		w.requireTwoTools(t, i)
		require.Equal(t, other.ServerID, w.Session(i.SessionID).PodID)
	}

	before, calls := w.rows(), writing.Desk.Seen()

	answer.Open()
	read.Open()
	write.Open()
	frozen.Signal(syscall.SIGCONT)

	for _, i := range all {
		frozen.Log.WaitLine("lost the lease", i.SessionID)
	}

	require.Contains(t, frozen.Metrics(), "\ntarsy_lease_losses_total 4\n")

	// Otherwise it is healthy again; and once it has stopped, all its writes have been refused.
	require.Equal(t, http.StatusOK, frozen.Ready())
	frozen.Signal(syscall.SIGTERM)
	require.Zero(t, frozen.WaitExit(), "log:\n%s", frozen.Log)

	require.Equal(t, before, w.rows())
	require.Equal(t, calls, writing.Desk.Seen())
	require.Equal(t, eachOnce(callSecond), asking.Asked())
	require.Equal(t, eachOnce(callSecond), waiting.Asked())
	require.Equal(t, eachOnce(), reading.Asked())
	require.Equal(t, eachOnce(), writing.Asked())
	require.Equal(t, []deskCall{{Tool: toolLook}, {Tool: toolInspect}}, withoutIDs(asking.Desk.Seen()))
	require.Equal(t, []deskCall{{Tool: toolLook}, {Tool: toolInspect}, {Tool: toolInspect}}, withoutIDs(reading.Desk.Seen()))
	require.Equal(t, []deskCall{{Tool: toolLook}, {Tool: toolRestart}}, withoutIDs(writing.Desk.Seen()))
	require.Equal(t, tarsy.CallUnknown, w.MCPInteractions(writing.SessionID)[1].Status)
}

// rows returns everything that the database has about sessions.
func (w *world) rows() []string {
	w.t.Helper()

	const all = `
SELECT to_jsonb(r)::text AS row FROM sessions r UNION ALL SELECT to_jsonb(r)::text FROM stages r
UNION ALL SELECT to_jsonb(r)::text FROM executions r UNION ALL SELECT to_jsonb(r)::text FROM timeline_events r
UNION ALL SELECT to_jsonb(r)::text FROM messages r UNION ALL SELECT to_jsonb(r)::text FROM llm_interactions r
UNION ALL SELECT to_jsonb(r)::text FROM mcp_interactions r UNION ALL SELECT to_jsonb(r)::text FROM events r
UNION ALL SELECT to_jsonb(r)::text FROM requests r ORDER BY 1`

	var rows []string
	for _, r := range tarsytest.Rows[struct{ Row string }](w.App, all) {
		rows = append(rows, r.Row)
	}

	return rows
}
