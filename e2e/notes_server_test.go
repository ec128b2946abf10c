package e2e

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// noteServers is a front end, through which the test captures and watches, and server processes that do the work.
type noteServers struct {
	*tarsytest.App

	t        *testing.T
	settings processSettings
}

func newNoteServers(t *testing.T) *noteServers {
	t.Helper()

	app := tarsytest.New(t, tarsytest.Options{WorkersOff: true, Config: "queue: {worker_count: 0}\n"})

	return &noteServers{t: t, App: app, settings: processSettings{
		Database: app.Database, Model: serveModel(t, app.Script),
		Config: "queue: {worker_count: 0}\nllm_providers: {test: {type: scripted, model: test-model}}\ndefaults: {llm_provider: test}\n",
	}}
}

func (s *noteServers) start() *process {
	s.t.Helper()

	return startProcess(s.t, s.settings)
}

func TestNoteOfServerKilledAfterExtractionIsOrganizedByAnother(t *testing.T) {
	t.Parallel()

	servers := newNoteServers(t)
	project := servers.Project("Website")
	servers.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Fix it"}))
	servers.Script.Route(tarsytest.NoteOrganizer, tarsytest.Organizes(tarsytest.Place{ProjectID: project.ID}))

	// This comes before the server starts, so that it finds the queue paused.
	servers.PauseQueue(notebook.QueueOrganize)

	first := servers.start()
	events := servers.NoteEvents(0)
	note := servers.Capture("Fix it")
	require.Equal(t, notebook.NoteExtracted, servers.WaitProcessed(note.ID).Status)
	first.Kill()

	servers.ResumeQueue(notebook.QueueOrganize)
	servers.start()

	require.Equal(t, &project.ID, servers.WaitOrganized(note.ID).Entities[0].ProjectID)
	events.WaitNoteEvent(notebook.TypeEntityOrganized, note.ID)
	requireContiguous(t, events.Events())
	require.Len(t, servers.Script.Calls(), 2, "a finished call is not made again")
}

func TestNoteOfServerKilledDuringOrganizationIsRescued(t *testing.T) {
	t.Parallel()

	servers := newNoteServers(t)
	project := servers.Project("Website")
	gate := script.NewGate()
	cutOff, whole := tarsytest.Organizes(tarsytest.Place{ProjectID: project.ID}), tarsytest.Organizes(tarsytest.Place{ProjectID: project.ID})
	cutOff.Gate = gate

	servers.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Fix it"}))
	servers.Script.Route(tarsytest.NoteOrganizer, cutOff, whole)

	first := servers.start()
	note := servers.Capture("Fix it")
	servers.WaitGate(gate)
	first.Kill()

	// Minutes later, the job counts as lost and another server leads.
	servers.Exec(`UPDATE river_job SET attempted_at = attempted_at - interval '10 minutes' WHERE state = 'running'`)
	servers.Exec(`DELETE FROM river_leader`)
	servers.start()

	done := servers.WaitOrganized(note.ID)
	require.Equal(t, &project.ID, done.Entities[0].ProjectID)
	require.Equal(t, 2, servers.NoteJobs(note.ID)[0].Attempt)
}

func TestServersShareNotes(t *testing.T) {
	t.Parallel()

	// A server extracts four notes in parallel, so eight need two servers.
	const count = 8

	one := tarsytest.New(t, tarsytest.Options{})
	two := tarsytest.New(t, tarsytest.Options{Database: one.Database, Script: one.Script})
	project := one.Project("Machines")

	var (
		mu    sync.Mutex
		gates = map[string]*script.Gate{}
	)

	for n := range count {
		gates[item(n)] = script.NewGate()
	}

	answerItems(one.Script, project.ID, func(title string) *script.Gate {
		mu.Lock()
		defer mu.Unlock()

		return gates[title]
	})

	events := two.NoteEvents(0)
	ids := captureItems(one, count)

	for n := range count {
		one.WaitGate(gates[item(n)])
	}

	for n := range count {
		gates[item(n)].Open()
	}

	for _, id := range ids {
		require.Len(t, two.WaitOrganized(id).Entities, 1)
	}

	requireContiguous(t, awaitItems(events, 1, count))
	require.Len(t, one.Script.Calls(), 2*count, "no note is processed twice")
}

func TestPausedQueueHoldsNotesUntilResumed(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{WorkersOff: true})
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts())
	app.PauseQueue(notebook.QueueExtract)
	app.StartWorkers()

	note := app.Capture("Captured while the queue is paused")
	require.Empty(t, note.ProcessingError)

	// The workers know of the job and leave it alone.
	require.Equal(t, notebook.JobWaiting, app.NoteJobs(note.ID)[0].State)
	require.Equal(t, notebook.NoteQueued, app.Note(note.ID).Status)
	require.Empty(t, app.Script.Calls())

	app.ResumeQueue(notebook.QueueExtract)
	app.WaitOrganized(note.ID)
}

// The database goes away while a note is being extracted, and the connections of readers with it.
func TestNotesSurviveRestartOfDatabase(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	project := app.Project("Machines")
	gate := script.NewGate()

	answerItems(app.Script, project.ID, func(string) *script.Gate { return gate })

	events := app.NoteEvents(0)
	note := app.Capture(item(1))
	app.WaitGate(gate)

	restore := pgtest.Interrupt(t, app.Database)

	gate.Open() // the result cannot be stored now
	restore()

	done := app.WaitOrganized(note.ID)
	require.Len(t, done.Entities, 1, "also if the first attempt was stored in the end")
	require.Equal(t, &project.ID, done.Entities[0].ProjectID)

	// A reader whose stream has ended reconnects after its last event.
	var (
		all  []tarsytest.Event
		last int64
	)

	for found := false; !found; {
		_, end := events.WaitOrEnd("the organization", func(e tarsytest.Event) bool { return e.Type == notebook.TypeEntityOrganized })
		found = end == nil

		for _, e := range events.Events() {
			if e.Seq() > 0 {
				all, last = append(all, e), e.Seq()
			}
		}

		if !found {
			events = app.NoteEvents(last)
		}
	}

	require.EqualValues(t, 1, all[0].Seq())
	requireContiguous(t, all)
}
