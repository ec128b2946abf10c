package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

const (
	callShorten = "Reader shortening"
	shortened   = "The heap grows by thirty a minute, and that since noon."
)

// longResults returns a recipe with one agent whose tool returns more than the model should read.
func longResults() recipe {
	return recipe{
		agents: "  Reader: {custom_instructions: Read the log.}\n",
		server: ", summarization: {enabled: true, size_threshold_tokens: 100}",
		chain:  "stages: [{name: read, agents: [{name: Reader}]}]",
		reply: func(_ *investigation, call string, _ *llm.Request) (script.Reply, bool) {
			return script.Reply{Text: shortened}, call == callShorten
		},
	}
}

// newReader returns an investigation whose tool returns long results.
func newReader(t testing.TB, id string) *investigation {
	t.Helper()

	i := newInvestigation(t, id, longResults())
	i.Desk.answer = func(deskCall) string { return strings.Repeat("app-1 heap 100 MiB\n", 100) }

	return i
}

// stallSummaries makes the database wait for a lock before it stores the event of a summary.
const (
	summaryLock    = 4711
	stallSummaries = `
CREATE FUNCTION stall_summaries() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NEW; END$$;
CREATE TRIGGER stall_summaries BEFORE INSERT ON timeline_events FOR EACH ROW
WHEN (NEW.event_type = 'mcp_tool_summary') EXECUTE FUNCTION stall_summaries()`
)

// A server is killed while a model summarizes a long result: before the first word, in the middle, and after the last word.
// The tool is not called again; the summary is made again, and the agent reads it.
func TestKillDuringResultSummary(t *testing.T) {
	t.Parallel()

	undisturbed, silent := newReader(t, "undisturbed"), newReader(t, "silent")
	amid, over := newReader(t, "amid"), newReader(t, "over")
	killed := []*investigation{silent, amid, over}
	gates := []*script.Gate{silent.HoldCall(callShorten, 0), amid.HoldCall(callShorten, 4), over.HoldCall(callShorten, 99)}

	w := newWorld(t, worldOptions{}, undisturbed, silent, amid, over)
	first := w.Start()

	for _, i := range []*investigation{undisturbed, silent, amid, over} {
		w.SubmitAndWatch(i)
	}

	w.Await(undisturbed)

	for n, gate := range gates {
		await(t, gate.Reached(), "the summary of "+killed[n].id)
	}

	amid.Socket.Wait("a part of the summary", func(e tarsytest.Event) bool {
		text, _ := e.Fields["delta"].(string)

		return e.Fields["event_type"] == string(tarsy.EventToolSummary) && text != "" && strings.HasPrefix(shortened, text)
	})
	first.Kill()
	w.Start()
	w.requireShortened(t, undisturbed, nil)

	for _, i := range killed {
		w.Await(i)
		w.requireShortened(t, i, []string{callShorten})
		require.Equal(t, w.record(undisturbed), w.record(i))
	}
}

// requireShortened checks that the agent, and everybody else, reads the summary.
func (w *world) requireShortened(t *testing.T, i *investigation, again []string) {
	t.Helper()
	w.requireInvestigation(t, i, map[string]int{"Reader 1": 1, callShorten: 1, "Reader 2": 1, callSummary: 1}, again, nil)

	long := i.Desk.answer(deskCall{})
	call := w.MCPInteractions(i.SessionID)[0]
	require.Equal(t, long, call.ToolResult, "the whole result is kept for people")
	require.Equal(t, shortened, call.Summary)

	messages := w.Messages(i.SessionID)
	require.Contains(t, messages[3].Content, shortened)
	require.NotContains(t, messages[3].Content, long)

	for _, c := range i.model.Calls() {
		if callName(&c.Request) == "Reader 2" {
			require.Equal(t, messages[3].Content, c.Request.Messages[3].Content)
		}
	}
}

// stall is an advisory lock that the test holds.
type stall struct {
	w    *world
	conn *pgx.Conn
}

// waiting finds the connections to this database that wait for the lock.
const waiting = `
SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
WHERE l.locktype = 'advisory' AND l.objid = $1::bigint::oid AND NOT l.granted`

func newStall(w *world) *stall {
	w.t.Helper()

	conn, err := pgx.Connect(w.t.Context(), w.Database)
	require.NoError(w.t, err)

	_, err = conn.Exec(w.t.Context(), `SELECT pg_advisory_lock($1)`, summaryLock)
	require.NoError(w.t, err)

	return &stall{w: w, conn: conn}
}

// Wait waits until a connection waits for the lock.
func (s *stall) Wait() {
	s.w.t.Helper()

	for deadline := time.Now().Add(patience); len(tarsytest.Rows[struct{ PID uint32 }](s.w.App, waiting, summaryLock)) == 0; {
		require.True(s.w.t, time.Now().Before(deadline), "timed out waiting for a summary to be stored")
	}
}

// Break terminates the connections that wait for the lock, as a network failure would, and releases the lock.
func (s *stall) Break() {
	s.w.t.Helper()

	_, err := s.conn.Exec(s.w.t.Context(), `SELECT pg_terminate_backend(pid, 10000) FROM (`+waiting+`) AS w`, summaryLock)
	require.NoError(s.w.t, err)
	require.NoError(s.w.t, s.conn.Close(s.w.t.Context()))
}

// A server is killed when the long result is stored, but not its summary.
func TestKillBetweenLongResultAndItsSummary(t *testing.T) {
	t.Parallel()

	i := newReader(t, "reading")
	gate := i.HoldCall(callShorten, 0)
	w := newWorld(t, worldOptions{}, i)
	w.Exec(stallSummaries)

	summaries := newStall(w)
	first := w.Start()

	w.SubmitAndWatch(i)
	i.Socket.Wait("the end of the tool call", func(e tarsytest.Event) bool {
		return e.Type == tarsy.TypeTimelineCompleted && e.Fields["event_type"] == string(tarsy.EventToolCall)
	})
	await(t, gate.Reached(), "the summary")
	summaries.Wait()
	first.Kill()
	summaries.Break()
	require.NotContains(t, eventTypes(w.Timeline(i.SessionID)), tarsy.EventToolSummary)

	w.Start()
	w.Await(i)
	w.requireShortened(t, i, []string{callShorten})
}
