package e2e

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// The note pipeline from outside: captured over HTTP, processed by the real queue, watched over SSE.
func TestCapturedNoteBecomesFiledEntities(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	ana := app.User("Ana")
	project := ana.Project("Website")
	epic := ana.Epic(project.ID, "Login")
	events := app.NoteEvents(0)

	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(
		tarsytest.ExtractedEntity{Title: "Fix the login bug on Safari", Owner: "Ben", DueDate: "2026-11-20", Tags: []string{"safari", "login"}},
		tarsytest.ExtractedEntity{Type: notebook.EntityDecision, Title: "Safari 15 is not supported", Evidence: "Safari 15 is not supported any more"},
		tarsytest.ExtractedEntity{Type: notebook.EntityRisk, Title: "Customers may lose their carts", Confidence: 0.4},
		tarsytest.ExtractedEntity{Title: "Write a test for Safari", Evidence: "A test for Safari is missing."},
	))
	app.Script.Route(tarsytest.NoteOrganizer, tarsytest.Organizes(
		tarsytest.Place{ProjectID: project.ID, EpicID: epic.ID, Reason: "It is about the login."},
		tarsytest.Place{ProjectID: project.ID, Confidence: 0.5, Reason: "The website may be meant."},
		tarsytest.Place{},
		tarsytest.Place{ProjectID: project.ID, NewEpicName: "Browser tests", NewEpicDescription: "Tests in each browser.", Reason: "There is no epic for tests."},
	))

	note := ana.CaptureAndProcess(
		"Fix the login bug on Safari. Safari 15 is not supported any more. Customers may lose their carts. A test for Safari is missing.")

	require.Equal(t, &epic.ID, note.Entities[0].EpicID)
	require.Nil(t, note.Entities[1].ProjectID, "a person decides, so nothing is assigned")
	require.Len(t, note.ReviewItems, 3)

	// This is the last event that the organization commits.
	events.Wait("the review item about the epic", func(e tarsytest.Event) bool {
		return e.Type == notebook.TypeReviewCreated && e.Fields["review_id"] == note.ReviewItems[len(note.ReviewItems)-1].ID
	})
	requireContiguous(t, events.Events())

	n := tarsytest.NoteNormalizer(note)
	tarsytest.GoldenJSON(t, n, "notes/note.json", note)
	tarsytest.GoldenEvents(t, n, "notes/events.jsonl", events.Events())
}

func TestNoteWithoutEntitiesIsDoneWithoutOrganization(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Project("Website") // with a project, the organization would call the model, which has no reply
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts())
	events := app.NoteEvents(0)

	note := app.CaptureAndProcess("It was a quiet night.")
	require.Empty(t, note.Entities)
	require.Zero(t, note.EntityCount)
	require.Empty(t, note.ProcessingError)

	processed := events.WaitNoteEvent(notebook.TypeNoteProcessed, note.ID)
	require.Equal(t, "done", processed.Fields["status"])
	require.NotContains(t, processed.Fields, "entity_count")

	jobs := app.NoteJobs(note.ID)
	require.Len(t, jobs, 1)
	require.Equal(t, notebook.QueueExtract, jobs[0].Queue)
	require.Equal(t, notebook.JobCompleted, jobs[0].State)
}

// itemPattern finds the work item that a note of answerItems mentions.
var itemPattern = regexp.MustCompile(`Repair machine [0-9]+\b`)

// item returns the n-th note that answerItems knows.
func item(n int) string { return fmt.Sprintf("Repair machine %d", n) }

// answerItems answers for any number of notes, in any order: each has one entity, which is filed under the project. hold
// returns the gate of a reply, or nil.
func answerItems(s *script.Script, projectID string, hold func(title string) *script.Gate) {
	of := func(agent string) func(*llm.Request) bool {
		return func(r *llm.Request) bool { return r.Agent == agent }
	}

	s.RouteFunc(of(tarsytest.NoteExtractor), func(r *llm.Request, _ int) script.Reply {
		title := itemPattern.FindString(r.Messages[len(r.Messages)-1].Content)
		reply := tarsytest.Extracts(tarsytest.ExtractedEntity{Title: title})
		reply.Gate = hold(title)

		return reply
	})
	s.RouteFunc(of(tarsytest.NoteOrganizer), func(*llm.Request, int) script.Reply {
		return tarsytest.Organizes(tarsytest.Place{ProjectID: projectID})
	})
}

func notHeld(string) *script.Gate { return nil }

func TestFiftyNotesAtOnceAreAllFiled(t *testing.T) {
	t.Parallel()

	const count = 50

	app := tarsytest.New(t, tarsytest.Options{})
	project := app.Project("Machines")
	events := app.NoteEvents(0)
	answerItems(app.Script, project.ID, notHeld)

	ids := captureItems(app, count)
	for _, id := range ids {
		note := app.WaitOrganized(id)
		require.Len(t, note.Entities, 1)
		require.Equal(t, &project.ID, note.Entities[0].ProjectID)
		require.Equal(t, note.Content, note.Entities[0].Title)
		require.Empty(t, note.ReviewItems)
	}

	all := awaitItems(events, 1, count)
	requireContiguous(t, all)
	require.Len(t, app.Script.Calls(), 2*count, "no call is made twice")
}

func TestFailedAttemptsOfNoteAreRetried(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	project := app.Project("Website")
	events := app.NoteEvents(0)

	// This is not one of the errors that the call itself retries.
	failure := script.Reply{Err: &llm.Error{Class: llm.ClassAuth, Message: "the key is not valid"}}
	app.Script.Route(tarsytest.NoteExtractor, failure, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Fix it"}))
	app.Script.Route(tarsytest.NoteOrganizer, failure, tarsytest.Organizes(tarsytest.Place{ProjectID: project.ID}))

	note := app.CaptureAndProcess("Fix it")
	require.Equal(t, &project.ID, note.Entities[0].ProjectID)
	require.Empty(t, note.ProcessingError)

	events.WaitNoteEvent(notebook.TypeEntityOrganized, note.ID)

	var seen []string

	for _, e := range events.Events() {
		if e.Fields["note_id"] == note.ID {
			seen = append(seen, fmt.Sprint(e.Type, " ", e.Fields["status"]))
		}

		if e.Type == notebook.TypeNoteRequeued {
			require.Contains(t, e.Fields["error"], "the key is not valid")
		}
	}

	require.Equal(t, []string{
		"note.captured queued", "note.requeued queued", "entity.created accepted", "note.processed extracted", "note.requeued extracted",
		"entity.organized accepted",
	}, seen)

	for _, job := range app.NoteJobs(note.ID) {
		require.Equal(t, notebook.JobCompleted, job.State)
		require.Equal(t, 2, job.Attempt)
	}
}

// captureItems captures notes in parallel, and returns their ids.
func captureItems(app *tarsytest.App, count int) []string {
	ids := make(chan string, count)

	for n := range count {
		go func() { ids <- app.Capture(item(n)).ID }() // all are awaited below
	}

	all := make([]string, count)
	for n := range all {
		all[n] = <-ids
	}

	return all
}

// awaitItems waits for all events of the notes of answerItems, after some earlier events, and returns all events.
func awaitItems(events *tarsytest.EventStream, before, count int) []tarsytest.Event {
	// Each note is captured, has one entity, is processed and organized.
	const each = 4

	last := int64(before + each*count)
	events.Wait(fmt.Sprintf("event %d", last), func(e tarsytest.Event) bool { return e.Seq() == last })

	return events.Events()
}

// requireContiguous checks that events of a journal are in order, without duplicates or gaps.
func requireContiguous(t *testing.T, events []tarsytest.Event) {
	t.Helper()
	require.NotEmpty(t, events)

	for i, e := range events {
		require.Equal(t, events[0].Seq()+int64(i), e.Seq(), "%s", e.Raw)
	}
}
