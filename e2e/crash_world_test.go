package e2e

import (
	"cmp"
	"fmt"
	"strings"
	"testing"
	"time"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/tarsytest"
)

// lease is the lease of servers whose sessions should be taken over soon.
const lease = time.Second

// worldOptions are the settings of the servers.
type worldOptions struct {
	Lease   time.Duration
	Grace   time.Duration
	Workers int
}

// world is what is outside the servers that a test kills: the database, investigations with their models and tools, and a
// server that runs no sessions, through which the test submits and watches.
type world struct {
	*tarsytest.App

	t        testing.TB
	settings processSettings
}

// newWorld creates a world with investigations, which share the agents of the first one.
func newWorld(t testing.TB, options worldOptions, all ...*investigation) *world {
	t.Helper()

	return newWorldOn(t, pgtest.New(t), options, all...)
}

// newWorldOn creates a world on an existing database.
func newWorldOn(t testing.TB, database string, options worldOptions, all ...*investigation) *world {
	t.Helper()

	options.Workers = cmp.Or(options.Workers, len(all))
	options.Lease = cmp.Or(options.Lease, lease)
	options.Grace = cmp.Or(options.Grace, patience)

	each := investigations(all)
	w := &world{t: t, App: tarsytest.New(t, tarsytest.Options{Config: each.config() + "queue: {worker_count: 0}\n", Database: database})}
	w.settings = processSettings{
		Database: database,
		Model:    serveModel(t, each),
		Config: each.config() + fmt.Sprintf(
			"queue: {worker_count: %d, max_concurrent_sessions: 100, orphan_threshold: %s, heartbeat_interval: %s, graceful_shutdown_timeout: %s}\n",
			options.Workers, options.Lease, options.Lease/5, options.Grace),
	}

	return w
}

// Start starts a server.
func (w *world) Start() *process {
	w.t.Helper()

	return startProcess(w.t, w.settings)
}

// At returns an App for one of the servers.
func (w *world) At(p *process) *tarsytest.App { return tarsytest.Connect(w.t, p.URL, w.Database) }

// SubmitAndWatch submits the alert of an investigation and watches its session.
func (w *world) SubmitAndWatch(i *investigation) {
	w.t.Helper()

	i.SessionID = w.Submit(i.id, "the app is slow")
	i.Socket = w.Watch(i.SessionID)
}

// Question asks the question of an investigation, once its session has ended.
func (w *world) Question(i *investigation) {
	w.t.Helper()

	i.Socket.WaitStatus("completed")
	i.Question = w.Ask(i.SessionID, "is it still slow?")
}

// Await waits for the end of an investigation: of its session and, if the chain accepts questions, of the answer to one.
func (w *world) Await(i *investigation) {
	w.t.Helper()
	i.Socket.WaitStatus("completed")

	if !strings.Contains(i.recipe.chain, "chat:") {
		return
	}

	if i.Question.StageID == "" {
		w.Question(i)
	}

	i.Socket.WaitStage(i.Question.StageID)
}
