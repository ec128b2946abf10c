package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/tarsytest"
)

// lease is that of servers whose sessions shall be taken over soon.
const lease = time.Second

// worldOptions are the time limits of the servers.
type worldOptions struct {
	Lease   time.Duration
	Grace   time.Duration
	Workers int
}

// world is what lies outside of the servers that a test kills: the database, investigations with their models and
// tools, and a server that runs no sessions, through which the test submits and watches.
type world struct {
	*tarsytest.App

	t    testing.TB
	told processSettings
}

// newWorld makes a world with some investigations.
func newWorld(t testing.TB, options worldOptions, all ...*investigation) *world {
	t.Helper()

	options.Workers = cmp.Or(options.Workers, len(all))

	return openWorld(t, options, func(tools bool) string { return chains(all, tools) }, models(all))
}

// openWorld makes a world of a model and a configuration, with tools or without: a server that runs no sessions needs
// none.
func openWorld(t testing.TB, options worldOptions, config func(tools bool) string, model llm.Client) *world {
	t.Helper()

	options.Lease = cmp.Or(options.Lease, lease)
	options.Grace = cmp.Or(options.Grace, patience)

	database := pgtest.New(t)
	w := &world{t: t, App: tarsytest.New(t, tarsytest.Options{Config: config(false) + "queue: {worker_count: 0}\n", Database: database})}
	w.told = processSettings{
		Database: database,
		Model:    serveModel(t, model),
		Config: config(true) + fmt.Sprintf(
			"queue: {worker_count: %d, max_concurrent_sessions: 100, orphan_threshold: %s, heartbeat_interval: %s, graceful_shutdown_timeout: %s}\n",
			options.Workers, options.Lease, options.Lease/5, options.Grace),
	}

	return w
}

// chains is the configuration: each investigation has an alert type, a chain, an agent, a model and a desk of its own,
// all of one name.
func chains(all []*investigation, desks bool) string {
	providers, servers, agents, chains := "llm_providers:\n", "mcp_servers:\n", "agents:\n", "agent_chains:\n"

	for _, i := range all {
		used := ""

		if desks {
			servers += fmt.Sprintf("  %s: {transport: {type: http, url: %q}}\n", i.id, i.Desk.URL)
			used = i.id
		}

		providers += fmt.Sprintf("  %s: {type: scripted, model: test-model}\n", i.id)
		agents += fmt.Sprintf("  %s: {mcp_servers: [%s]}\n", i.id, used)
		chains += fmt.Sprintf("  %[1]s: {alert_types: [%[1]s], llm_provider: %[1]s, stages: [{name: analysis, agents: [{name: %[1]s}]}]}\n", i.id)
	}

	return providers + servers + agents + chains
}

// Start starts a server.
func (w *world) Start() *process {
	w.t.Helper()

	return startProcess(w.t, w.told)
}

// At is the way to one of the servers.
func (w *world) At(p *process) *tarsytest.App {
	app := *w.App
	app.URL = p.URL

	return &app
}

// Begin submits the alert of an investigation and watches its session.
func (w *world) Begin(i *investigation) {
	w.t.Helper()

	i.SessionID = w.Submit(i.id, "the app is slow")
	i.Socket = w.Watch(i.SessionID)
}

// requireWhole checks that the session completed, whoever worked on it, and that nothing is missing or doubled in
// what people see of it.
func (w *world) requireWhole(t testing.TB, i *investigation) {
	t.Helper()

	sessionID := i.SessionID
	session := w.Session(sessionID)
	require.Equal(t, tarsy.SessionCompleted, session.Status, session.ErrorMessage)
	require.Equal(t, summary, session.ExecutiveSummary)

	requireSeen(t, i.Socket, requireJournal(t, w.App, sessionID))

	require.Len(t, w.LLMInteractions(sessionID), 4, "each finished LLM call once")
	require.Len(t, w.MCPInteractions(sessionID), 2, "each tool call once")

	var texts []string
	for _, e := range w.Timeline(sessionID) {
		texts = append(texts, e.Content)
	}

	messages := w.Messages(sessionID)
	require.Contains(t, messages[3].Content, "[call 1.1.1]\n")
	require.Contains(t, messages[5].Content, "[call 1.1.2]\n", "a call keeps its number, whoever goes on with it")

	last := unmarked(messages[len(messages)-2].Content)
	require.Equal(t, analysisOf(last), session.FinalAnalysis)
	require.Equal(t, []string{
		"I look first.", "Looking.", "look is done", "Go on.", secondText, last, analysisOf(last), analysisOf(last), summary,
	}, texts, "each text of the timeline is there once and whole")
}

// requireSeen checks that a reader saw each entry of a journal once, in order.
func requireSeen(t testing.TB, reader interface{ Events() []tarsytest.Event }, journal []tarsy.Event) {
	t.Helper()

	var want, seen []string

	for _, e := range journal {
		want = append(want, fmt.Sprint(e.Seq, " ", e.Type))
	}

	for _, e := range reader.Events() {
		if e.Seq() > 0 {
			seen = append(seen, fmt.Sprint(e.Seq(), " ", e.Type))
		}
	}

	require.Equal(t, want, seen, "a reader sees each entry once, in order")
}

// requireJournal checks what holds for every journal: numbers without gaps, each timeline event created once and
// completed once, each status told once; and that the timeline is what the journal says.
func requireJournal(t testing.TB, app *tarsytest.App, sessionID string) []tarsy.Event {
	t.Helper()

	entries := app.Journal(sessionID)
	told, created, completed := map[string]int{}, map[string]string{}, map[string]int{}

	for i, entry := range entries {
		require.Equal(t, int64(i+1), entry.Seq, "the journal has no gap")

		var payload struct {
			EventID     string `json:"event_id"`
			StageID     string `json:"stage_id"`
			ExecutionID string `json:"execution_id"`
			Status      string `json:"status"`
		}

		require.NoError(t, json.Unmarshal(entry.Payload, &payload))

		switch entry.Type {
		case tarsy.TypeTimelineCreated:
			require.NotContains(t, created, payload.EventID, "an event is created once")
			created[payload.EventID] = payload.Status
		case tarsy.TypeTimelineCompleted:
			require.Equal(t, "streaming", created[payload.EventID], "only what was begun is completed")
			completed[payload.EventID]++
			require.Equal(t, 1, completed[payload.EventID], "an event is completed once")
		default:
			told[fmt.Sprint(entry.Type, payload.StageID, payload.ExecutionID, payload.Status)]++
		}
	}

	for what, times := range told {
		require.Equal(t, 1, times, "%s is told once", what)
	}

	timeline := app.Timeline(sessionID)
	require.Len(t, timeline, len(created))

	for _, e := range timeline {
		require.Contains(t, created, e.ID)
		require.NotEqual(t, tarsy.EventStreaming, e.Status, "nothing is left streaming")

		if created[e.ID] == "streaming" {
			require.Equal(t, 1, completed[e.ID], "what was begun is completed")
		}
	}

	return entries
}
