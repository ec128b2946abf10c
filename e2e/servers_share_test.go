package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// startServer starts a server next to others in the test's own process. Its model answers everything, once the gate, if
// there is one, is open.
func startServer(t testing.TB, database, queue string, gate *script.Gate) *tarsytest.App {
	t.Helper()

	app := tarsytest.New(t, tarsytest.Options{Database: database, Config: fmt.Sprintf(tarsytest.DefaultConfig, "") + "queue: {" + queue + "}\n"})
	app.Script.RouteFunc(func(*llm.Request) bool { return true }, func(*llm.Request, int) script.Reply {
		return script.Reply{Text: "Nothing is wrong.", Gate: gate}
	})

	return app
}

// Two servers have one worker each: while both are busy, each has one session, and all sessions complete in the end.
func TestServersShareSessions(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)
	gates := []*script.Gate{script.NewGate(), script.NewGate()}
	servers := []*tarsytest.App{
		startServer(t, database, "worker_count: 1", gates[0]),
		startServer(t, database, "worker_count: 1", gates[1]),
	}

	var ids []string
	for n := range 6 {
		ids = append(ids, servers[n%2].Submit("test", fmt.Sprintf("alert %d", n)))
	}

	for _, gate := range gates {
		await(t, gate.Reached(), "both servers to have a session")
	}

	require.Equal(t, []leased{{PodID: servers[0].ServerID, Sessions: 1}, {PodID: servers[1].ServerID, Sessions: 1}}, leases(servers[0], servers))

	for _, gate := range gates {
		gate.Open()
	}

	done := map[string]int{}

	for _, id := range ids {
		session := servers[0].WaitFor(id, tarsy.SessionCompleted)
		done[session.PodID]++

		requireJournal(t, servers[1], id)
	}

	require.Len(t, done, 2, "both servers worked")
}

type leased struct {
	PodID    string
	Sessions int64
}

// leases returns the number of leases of each server, in the servers' order.
func leases(app *tarsytest.App, servers []*tarsytest.App) []leased {
	found := tarsytest.Rows[leased](app, `SELECT pod_id, count(*) AS sessions FROM sessions WHERE lease_until IS NOT NULL GROUP BY pod_id`)

	var ordered []leased

	for _, server := range servers {
		for _, l := range found {
			if l.PodID == server.ServerID {
				ordered = append(ordered, l)
			}
		}
	}

	return ordered
}

// countLeases makes the database itself record, at every change of a lease, how many there are: those that count against
// the limits, and others.
const countLeases = `
CREATE TABLE lease_counts (n bigint NOT NULL, others bigint NOT NULL);
CREATE FUNCTION count_leases() RETURNS trigger LANGUAGE plpgsql AS
$$BEGIN INSERT INTO lease_counts SELECT count(*) FILTER (WHERE lease_counted), count(*) FILTER (WHERE NOT lease_counted)
FROM sessions WHERE lease_until IS NOT NULL; RETURN NULL; END$$;
CREATE TRIGGER count_leases AFTER UPDATE OF lease_until ON sessions FOR EACH STATEMENT EXECUTE FUNCTION count_leases()`

// The limit across all servers is exact, however many of them want the next session.
func TestLimitAcrossServersIsExact(t *testing.T) {
	t.Parallel()

	for _, limit := range []int{1, 3} {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			t.Parallel()

			database := pgtest.New(t)
			gate := script.NewGate()
			queue := fmt.Sprintf("worker_count: 4, max_concurrent_sessions: %d", limit)
			servers := []*tarsytest.App{startServer(t, database, queue, gate), startServer(t, database, queue, gate)}
			servers[0].Exec(countLeases)

			var ids []string
			for n := range 10 {
				ids = append(ids, servers[n%2].Submit("test", fmt.Sprintf("alert %d", n)))
			}

			await(t, gate.Reached(), "the first session")
			gate.Open()

			for _, id := range ids {
				servers[0].WaitFor(id, tarsy.SessionCompleted)
			}

			counts := tarsytest.Rows[struct{ Most, Changes int64 }](servers[0], "SELECT max(n) AS most, count(*) AS changes FROM lease_counts")[0]
			require.EqualValues(t, limit, counts.Most)
			require.GreaterOrEqual(t, counts.Changes, int64(2*len(ids)), "every lease was counted when it was taken and when it was given back")
		})
	}
}

// A session runs on one server; readers on another see its journal in order, and its text while it is being written.
func TestReadersOnAnotherServerSeeEveryEvent(t *testing.T) {
	t.Parallel()

	const (
		first = "The first half of the answer comes now. "
		text  = first + "The second half comes later."
	)

	database := pgtest.New(t)
	gate := script.NewGate()
	runs := tarsytest.New(t, tarsytest.Options{Database: database})
	runs.Script.Add(script.Reply{Text: text, Gate: gate, GateAfter: len(strings.Fields(first))}, script.Reply{Text: "It came."})
	reads := startServer(t, database, "worker_count: 0", nil)

	sessionID := reads.Submit("test", "what happened?")
	socket, stream := reads.Watch(sessionID), reads.Events(sessionID, 0)

	await(t, gate.Reached(), "the middle of the answer")

	socket.Wait("the text so far", showing(first))
	stream.Wait("the text so far", showing(first))
	gate.Open()

	socket.WaitStatus("completed")
	stream.WaitStatus("completed")
	require.Equal(t, runs.ServerID, reads.Session(sessionID).PodID)

	journal := requireJournal(t, reads, sessionID)
	requireSeen(t, socket, journal)
	requireSeen(t, stream, journal)
}

// A server that runs no sessions accepts alerts and questions, and leaves both to others.
func TestServerWithoutWorkersLeavesQuestionsToOthers(t *testing.T) {
	t.Parallel()

	const config = chatty + "queue: {worker_count: %d}\n"

	tools := []*tarsytest.MCPServer{oomTools()}
	takes := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(config, 0), MCP: tools})
	sessionID := takes.Submit("test", "what happened?")

	// The script is complete before the server that runs the session starts, because that server begins immediately.
	answers := script.New(script.Options{})
	answers.Route("Investigator", says("A leak."))
	answers.Route("ExecSummaryAgent", says("It leaks."))
	answers.Route("ChatAgent", says("Since Tuesday."))

	runs := tarsytest.New(t, tarsytest.Options{Config: fmt.Sprintf(config, 1), MCP: tools, Database: takes.Database, Script: answers})

	takes.WaitFor(sessionID, tarsy.SessionCompleted)
	require.Equal(t, tarsy.StatusCompleted, takes.Answer(sessionID, "since when?").Status)
	require.Equal(t, runs.ServerID, takes.Session(sessionID).PodID)
	requireReleased(t, takes)
}

// showing assembles texts as readers do, and matches once one of them is whole. A piece that begins beyond the text so far
// follows a missed one: the whole text comes after it, for readers who have just joined.
func showing(whole string) func(tarsytest.Event) bool {
	texts := map[string]string{}

	return func(e tarsytest.Event) bool {
		id, _ := e.Fields["event_id"].(string)
		delta, _ := e.Fields["delta"].(string)

		if offset, ok := e.Fields["offset"].(float64); ok && int(offset) <= len(texts[id]) {
			texts[id] = texts[id][:int(offset)] + delta
		}

		return texts[id] == whole
	}
}

// Two servers run; one is killed, and the other one takes its session over.
func TestTakeoverWithinLeasePlusFiveSeconds(t *testing.T) {
	t.Parallel()

	i := newInvestigation(t, "asking", twoTools())
	held, again := i.HoldCall(callSecond, 0), i.HoldCall(callSecond, 0)
	w := newWorld(t, worldOptions{}, i)
	killed := w.Start()

	w.SubmitAndWatch(i)
	await(t, held.Reached(), "the LLM call")

	other := w.Start()

	requireTakeover(t, killed, again)
	again.Open()
	i.Socket.WaitStatus("completed")
	w.requireTwoTools(t, i)
	require.Equal(t, other.ServerID, w.Session(i.SessionID).PodID)
}
