package e2e

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/tarsytest"
)

// turnstile is a model that releases one call at a time, when the test asks for it, and counts the calls in progress.
type turnstile struct {
	entered, leave chan struct{}

	mu               sync.Mutex
	inProgress, peak int
}

func newTurnstile() *turnstile {
	const room = 1000

	return &turnstile{entered: make(chan struct{}, room), leave: make(chan struct{}, room)}
}

func (m *turnstile) count(change int) {
	m.mu.Lock()
	defer m.mu.Unlock()

	m.inProgress += change
	m.peak = max(m.peak, m.inProgress)
}

func (m *turnstile) Generate(ctx context.Context, req *llm.Request) iter.Seq2[llm.Chunk, error] {
	return func(yield func(llm.Chunk, error) bool) {
		if req.Purpose == string(tarsy.InteractionExecutiveSummary) {
			yield(llm.TextChunk{Text: "Summed up."}, nil)

			return
		}

		m.count(1)
		defer m.count(-1)

		m.entered <- struct{}{}

		select {
		case <-m.leave:
			yield(llm.TextChunk{Text: "Analysed."}, nil)
		case <-ctx.Done():
			yield(nil, context.Cause(ctx))
		}
	}
}

// Exactly as many sessions run as the smaller limit allows: when one ends the next one begins, and there is never one too many.
func TestLimitsAreExact(t *testing.T) {
	t.Parallel()

	const sessions, limit = 8, 3

	for name, queue := range map[string]string{
		"by workers":             "{worker_count: 3, max_concurrent_sessions: 20}",
		"by concurrent sessions": "{worker_count: 20, max_concurrent_sessions: 3}",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			model := newTurnstile()
			app := tarsytest.New(t, tarsytest.Options{LLM: model, Config: "queue: " + queue + "\n" + oneAgent})

			var ids []string
			for i := range sessions {
				ids = append(ids, app.Submit("test", fmt.Sprintf("alert %d", i)))
			}

			for range limit {
				app.Await(model.entered, "a session to begin")
			}

			for ended := range sessions {
				waiting := max(sessions-limit-ended, 0)
				running := min(limit, sessions-ended)
				app.WaitAnswer("/health", fmt.Sprintf("%d waiting and %d running", waiting, running), func(r tarsytest.Response) bool {
					return strings.Contains(string(r.Body), fmt.Sprintf(`"queue":{"waiting":%d,"leased":%d}`, waiting, running))
				})

				model.leave <- struct{}{}

				if waiting > 0 {
					app.Await(model.entered, "the next session to begin")
				}
			}

			for _, id := range ids {
				app.WaitFor(id, tarsy.SessionCompleted)
			}

			require.Equal(t, limit, model.peak)
			require.Empty(t, model.entered)
			requireReleased(t, app)
		})
	}
}

// capacity is a model that makes each session and each question wait at its own gate, by the alert that it is about.
type capacity struct {
	agents, chats map[string]*script.Gate
}

func newCapacity(alerts ...string) *capacity {
	c := &capacity{agents: map[string]*script.Gate{}, chats: map[string]*script.Gate{}}
	for _, alert := range alerts {
		c.agents[alert], c.chats[alert] = script.NewGate(), script.NewGate()
	}

	return c
}

// reply waits at the gate of the alert that the prompt is about.
func (c *capacity) reply(req *llm.Request, _ int) script.Reply {
	gates := map[string]map[string]*script.Gate{"Investigator": c.agents, "ChatAgent": c.chats}[req.Agent]
	for alert, gate := range gates {
		if strings.Contains(req.Messages[1].Content, "["+alert+"]") {
			return script.Reply{Text: "Looked at " + alert + ".", Gate: gate}
		}
	}

	return script.Reply{Text: "Summed up."}
}

// Three sessions run in parallel and others wait. Questions about finished sessions are answered in addition. Cancelling a
// running session frees its slot immediately; cancelling a waiting one needs no slot. Only signals move the queue here: it
// is never polled, and no lease is renewed.
func TestQueueCapacity(t *testing.T) {
	t.Parallel()

	const limit = 3

	model := newCapacity("old-1", "old-2", "a", "b", "c", "d", "e", "f")
	app := tarsytest.New(t, tarsytest.Options{Config: oneAgent + `
    chat: {enabled: true}
queue: {worker_count: 3, max_concurrent_sessions: 3, poll_interval: 1h, orphan_threshold: 3h, heartbeat_interval: 1h}
`})
	app.Script.RouteFunc(func(*llm.Request) bool { return true }, model.reply)

	ids := map[string]string{}
	submit := func(alert string) { ids[alert] = app.Submit("test", "alert ["+alert+"]") }
	requireLeases := func(counted, others int64) {
		type leases struct{ Counted, Others int64 }

		require.Equal(t, []leases{{Counted: counted, Others: others}}, tarsytest.Rows[leases](app,
			`SELECT count(*) FILTER (WHERE lease_counted) AS counted, count(*) FILTER (WHERE NOT lease_counted) AS others FROM sessions WHERE lease_until IS NOT NULL`))
	}

	for _, alert := range []string{"old-1", "old-2"} {
		model.agents[alert].Open()
		submit(alert)
		app.WaitFor(ids[alert], tarsy.SessionCompleted)
	}

	app.Exec(countLeases)

	for _, alert := range []string{"a", "b", "c", "d", "e", "f"} {
		submit(alert)
	}

	for _, alert := range []string{"a", "b", "c"} {
		app.WaitGate(model.agents[alert])
	}

	requireLeases(limit, 0)

	first, second := app.Ask(ids["old-1"], "why?"), app.Ask(ids["old-2"], "why?")
	app.WaitGate(model.chats["old-1"])
	app.WaitGate(model.chats["old-2"])
	requireLeases(limit, 2)

	model.chats["old-1"].Open()
	model.chats["old-2"].Open()
	require.Equal(t, tarsy.StatusCompleted, app.WaitStage(ids["old-1"], first.StageID).Status)
	require.Equal(t, tarsy.StatusCompleted, app.WaitStage(ids["old-2"], second.StageID).Status)
	requireLeases(limit, 0)

	app.Cancel(ids["b"])
	app.WaitGate(model.agents["d"])
	app.WaitFor(ids["b"], tarsy.SessionCancelled)
	app.Cancel(ids["f"])
	app.WaitFor(ids["f"], tarsy.SessionCancelled)
	requireLeases(limit, 0)

	for _, alert := range []string{"a", "c", "d", "e"} {
		model.agents[alert].Open()
		require.Equal(t, "Looked at "+alert+".", app.WaitFor(ids[alert], tarsy.SessionCompleted).FinalAnalysis)
	}

	counts := tarsytest.Rows[struct{ N, Others int64 }](app, "SELECT max(n) AS n, max(others) AS others FROM lease_counts")[0]
	require.EqualValues(t, limit, counts.N, "never one too many")
	require.EqualValues(t, 2, counts.Others)
	require.Equal(t, []string{"pending", "cancelling", "cancelled"}, statuses(app, ids["f"]), "it never ran")
	requireReleased(t, app)
}
