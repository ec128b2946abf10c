package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// plansConfig uses every feature that has its own statements: two stages, agents in parallel, tools, approvals, verdicts,
// questions, budgets, limits of teams, repetitions, storms, and write-back to %s.
const plansConfig = `
defaults: {llm_provider: test, alert_type: test}
system:
  dashboard_url: 'https://tarsy.example'
  budgets: {daily: {max_tokens: 100000000}}
agents: {Logs: {mcp_servers: [cluster]}, Metrics: {}, Fixer: {mcp_servers: [cluster]}}
agent_chains:
  test:
    alert_types: [test]
    stages:
      - {name: look, agents: [{name: Logs}, {name: Metrics}]}
      - {name: fix, agents: [{name: Fixer}]}
    chat: {enabled: true}
approvals: {rules: [{server: cluster, tool: restart, policy: ask}]}
queue: {worker_count: 4, max_concurrent_sessions: 4, team_limits: {payments: 1}, heartbeat_interval: 100ms, orphan_threshold: 2s, graceful_shutdown_timeout: 10ms}
alerts:
  deduplicate: {window: 30m}
  storm: {threshold: 2}
  resolved: {conclude: true}
  write_back:
    hook: {url: '%s'}
`

// recordStatements drives servers through everything that sessions and notes go through, and returns the database, whose
// servers have stopped, and the wires that recorded the statements.
func recordStatements(t *testing.T) (database string, wires []*wire) {
	t.Helper()

	database = pgtest.New(t)
	shared := newWire(t, database)

	// Every operation of the API, on a server whose teams have no limits.
	options := everything()
	options.Database = shared.URL
	plain := tarsytest.New(t, options)
	plain.Database = database // the test's own statements are not recorded
	requireSuccesses(t, plain)
	plain.Stop()

	w := newPlansWorld(t, shared)
	w.app.Database = database
	w.investigate()
	w.alert()
	w.takeOver()
	w.note()
	w.read()
	w.stop()

	return database, []*wire{shared, forget(t)}
}

// plansWorld is a server that uses many features.
type plansWorld struct {
	t    *testing.T
	app  *tarsytest.App
	hook *target
	// project is where notes are filed.
	project string
	// gate holds the calls of agents about alerts that are heldAlert, and end those about alerts that are handedOver.
	gate, end *script.Gate
}

const heldAlert, handedOver = "held at the gate", "handed over at the end"

func newPlansWorld(t *testing.T, through *wire) *plansWorld {
	t.Helper()

	w := &plansWorld{t: t, hook: newTarget(t, nil), gate: script.NewGate(), end: script.NewGate()}
	w.app = tarsytest.New(t, tarsytest.Options{
		Database: through.URL, Config: fmt.Sprintf(plansConfig, w.hook.URL), MCP: []*tarsytest.MCPServer{operator()}, RequireKey: true,
	})
	w.app.Script.RouteFunc(func(*llm.Request) bool { return true }, w.answer)

	verdict := concludes(t, tarsy.OutcomeCauseFound, "web leaks memory")
	verdict.Times = -1
	w.app.Script.Route("VerdictAgent", verdict)

	w.app.Token = w.app.Key("root", tarsy.ScopeAdmin)
	t.Cleanup(w.gate.Open)
	t.Cleanup(w.end.Open)

	return w
}

// answer returns the model's reply: agents with tools call one first.
func (w *plansWorld) answer(req *llm.Request, _ int) script.Reply {
	var prompt strings.Builder
	for _, m := range req.Messages {
		prompt.WriteString(m.Content)
	}

	called := req.Messages[len(req.Messages)-1].Role == llm.RoleTool

	switch {
	case req.Agent == tarsytest.NoteExtractor:
		return tarsytest.Extracts(
			tarsytest.ExtractedEntity{Title: "Fix the login bug", Owner: "Ana", DueDate: "2026-11-20", Tags: []string{"safari"}},
			tarsytest.ExtractedEntity{Type: notebook.EntityRisk, Title: "Sessions may be lost", Confidence: 0.4})
	case req.Agent == tarsytest.NoteOrganizer:
		return tarsytest.Organizes(tarsytest.Place{ProjectID: w.project}, tarsytest.Place{ProjectID: w.project, NewEpicName: "Login"})
	case req.Agent == "Logs" && !called:
		return calls("cluster__get_pods")
	case req.Agent == "Fixer" && !called && strings.Contains(prompt.String(), "restart it"):
		return restart(`{"namespace":"shop"}`)
	case req.Agent == "Metrics" && strings.Contains(prompt.String(), heldAlert):
		return script.Reply{Text: "Held.", Gate: w.gate}
	case req.Agent == "Metrics" && strings.Contains(prompt.String(), handedOver):
		return script.Reply{Text: "Held.", Gate: w.end}
	default:
		return used(says("The pod has no memory left."), 100, 10)
	}
}

// investigate runs sessions: one to its end with an approval, a verdict, a question, feedback and handling, one whose call
// is rejected, two that are cancelled, and one that runs while its lease is renewed.
func (w *plansWorld) investigate() {
	t, app := w.t, w.app

	id := app.Submit("test", map[string]any{"summary": "restart it", "team": "payments", "severity": "critical"})
	approval := waitApproval(app, app.Watch(id))
	requireUnheld(t, app, id)
	decide(t, app, approval.ID, "approve", map[string]any{"reason": "go"})
	app.WaitFor(id, tarsy.SessionCompleted)
	app.Answer(id, "Why?")

	path := "/api/v1/sessions/" + id
	require.Equal(t, http.StatusOK, app.Do(http.MethodPut, path+"/feedback", map[string]any{"rating": "right"}).Status)
	handle(t, app, id, map[string]any{"state": "acknowledged", "assignee": "me", "tags": map[string]any{"add": []string{"disk"}}})

	rejected := app.Submit("test", "restart it, please")
	decide(t, app, waitApproval(app, app.Watch(rejected)).ID, "reject", map[string]any{"reason": "no"})
	app.WaitFor(rejected, tarsy.SessionCompleted)

	for _, wait := range []func(id string){func(string) { app.WaitGate(w.gate) }, func(string) {}} {
		unwanted := app.Submit("test", heldAlert)
		wait(unwanted)
		app.Cancel(unwanted)
		app.WaitFor(unwanted, tarsy.SessionCancelled)
	}

	running := app.Submit("test", heldAlert)
	app.WaitFor(running, tarsy.SessionInProgress)
	awaitRenewal(t, app, running)

	waiting := app.Submit("test", heldAlert+" as well")
	pause(t, app, tarsy.PauseClaiming)
	resume(t, app, tarsy.PauseClaiming)
	w.gate.Open()
	app.WaitFor(running, tarsy.SessionCompleted)
	app.WaitFor(waiting, tarsy.SessionCompleted)
}

// alert reports alerts as Alertmanager does: one that repeats and ends, a storm, and one that is silenced and investigated anyway.
func (w *plansWorld) alert() {
	t, app := w.t, w.app

	alert := fires("DiskFull", "shop", "a", "team", "web", "severity", "warning")
	first := investigates(t, app, alert)
	notify(app, alert.describes("again"))
	app.WaitFor(first, tarsy.SessionCompleted)
	notify(app, alert.resolved())

	for _, alone := range notify(app, pods(0, 2)...) {
		app.WaitFor(*alone.SessionID, tarsy.SessionCompleted)
	}

	storm := notify(app, pods(2, 5)...)
	require.Equal(t, tarsy.ActionStorm, storm[0].Action)
	app.WaitFor(*storm[0].SessionID, tarsy.SessionCompleted)
	notify(app, allResolved(pods(2, 5))...)

	silence(t, app, map[string]any{"matchers": []string{"namespace=staging"}, "reason": "load test", "duration": "2h"})

	silenced := notify(app, fires("DiskFull", "staging", "a"))[0]
	require.Equal(t, tarsy.ActionSilence, silenced.Action)
	app.WaitFor(app.Investigate(*silenced.SuppressedID), tarsy.SessionCompleted)
}

// takeOver makes the server take over a session whose server has vanished.
func (w *plansWorld) takeOver() {
	pause(w.t, w.app, tarsy.PauseClaiming)

	id := w.app.Submit("test", "left behind")
	w.app.Exec(`UPDATE sessions SET lease_until = now() - interval '1 minute', fence = 1, pod_id = 'vanished' WHERE id = $1`, id)
	resume(w.t, w.app, tarsy.PauseClaiming)
	w.app.WaitFor(id, tarsy.SessionCompleted)
}

// note processes notes: extraction, organization, a second note similar to the first, and decisions of people.
func (w *plansWorld) note() {
	w.project = w.app.Project("Website").ID

	for _, text := range []string{"Fix the login bug. Sessions may be lost.", "Fix the login bug again."} {
		about := map[string]any{"source": "web", "content": text, "session_id": w.app.Sessions("")[0].ID}
		note := w.app.WaitOrganized(w.app.CaptureNote(about).ID)
		for _, item := range note.ReviewItems {
			answer := w.app.Do(http.MethodPost, "/api/v1/review/"+item.ID+"/resolve", map[string]any{"decision": "accept"}, "If-Match", `"1"`)
			require.Less(w.t, answer.Status, http.StatusInternalServerError, string(answer.Body))
		}
	}
}

// read sends the requests that people make: lists with filters and search words, as somebody who sees all sessions and as
// somebody who sees those of a team.
func (w *plansWorld) read() {
	ana := w.app.User("ana", tarsy.ScopeRead)

	for _, query := range []string{
		"", "status=completed", "search=memory", "search=memory&sort=relevance", "severity=critical", "team=payments", "handling=open", "assignee=me",
		"tag=disk", "outcome=cause_found", "alert_type=test&chain_id=test", "namespace=shop", "from=2020-01-01T00:00:00Z&to=2100-01-01T00:00:00Z",
		"limit=2", "rating=right",
	} {
		answer := ana.Do(http.MethodGet, "/api/v1/sessions?"+query, nil)
		require.Less(w.t, answer.Status, http.StatusInternalServerError, string(answer.Body))
	}
}

// stop stops the server in the middle of a session, which it hands over.
func (w *plansWorld) stop() {
	w.app.Submit("test", handedOver)
	w.app.WaitGate(w.end)
	w.app.Stop()
}

// forget makes a server with its own database delete old data: it trims journals, deletes sessions and purges them.
func forget(t *testing.T) *wire {
	t.Helper()

	const aged = 40 * 24 * time.Hour

	database, clock := pgtest.New(t), clockwork.NewFakeClockAt(time.Now())
	through := newWire(t, database)
	app := tarsytest.New(t, tarsytest.Options{
		Database: through.URL, Clock: clock, Config: "system: {retention: {session_retention_days: 30, purge_after_days: 30}}\n" + loneAgent,
	})
	app.Database = database
	app.Script.Add(says("Analysed."), says("Summed up."))
	app.Run("test", "to be forgotten")

	rows := func() int { return len(tarsytest.Rows[struct{ ID string }](app, `SELECT id::text FROM sessions`)) }

	for _, done := range []func() bool{
		func() bool { return through.seen("UPDATE sessions s SET deleted_at") },
		func() bool { return rows() == 0 },
	} {
		clock.Advance(aged)
		until(t, "the session to be forgotten", func() bool {
			clock.Advance(time.Minute)

			return done()
		})
	}

	app.Stop()

	return through
}
