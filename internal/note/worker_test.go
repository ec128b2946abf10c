package note_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/llm"
	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
)

// overloaded is a transient failure.
var overloaded = &llm.Error{Class: llm.ClassTransient, Retryable: true, Message: "the model is overloaded"}

func TestQueueExtractsAndOrganizesCapturedNote(t *testing.T) {
	s := newServer(t, 5)
	project, _ := s.project("Shop", "the web shop")
	s.extractionAnswers(task("Check the disk", "Check the disk"))
	s.organizationAnswers(infer.PlaceAnswer{ProjectID: project.ID, Confidence: 0.9})
	s.start(s.queue)

	n := s.add("Check the disk.")
	done := s.await(n.ID, notebook.NoteDone)
	require.True(t, done.Processed)
	require.Equal(t, 1, done.EntityCount)
	s.awaitJobs("notes_extract completed 1/5", "entities_organize completed 1/5")
	require.Equal(t, []string{"Check the disk"}, s.titles())
}

func TestNoteWithoutEntitiesHasNoOrganizeJob(t *testing.T) {
	s := newServer(t, 5)
	s.extractionAnswers()
	s.start(s.queue)

	n := s.add("Nothing to see here.")
	require.True(t, s.await(n.ID, notebook.NoteDone).Processed)
	s.awaitJobs("notes_extract completed 1/5")

	var together bool

	require.NoError(t, s.pool.QueryRow(t.Context(), `SELECT j.xmin = n.xmin FROM river_job j, notes n`).Scan(&together))
	require.True(t, together, "the result and the end of the job are one transaction")
}

func TestFailedAttemptIsRetried(t *testing.T) {
	s := newServer(t, 5)
	s.script.Route(infer.AgentExtract, script.Reply{Err: overloaded})
	s.extractionAnswers()
	s.start(s.queue)

	n := s.add("Check the disk.")
	s.awaitf(func() bool { return s.note(n.ID).ProcessingError != "" || s.note(n.ID).Processed }, "the first attempt to fail")
	require.Empty(t, s.await(n.ID, notebook.NoteDone).ProcessingError)
	s.awaitJobs("notes_extract completed 2/5")
	require.Equal(t, []string{notebook.TypeNoteCaptured, notebook.TypeNoteRequeued, notebook.TypeNoteProcessed}, eventTypes(s.events(3)))
}

func TestAnswerThatDoesNotFitSchemaIsNotRetried(t *testing.T) {
	s := newServer(t, 5)
	s.script.Route(infer.AgentExtract, script.Reply{Text: `{"entities":[{"type":"chore"}]}`})
	s.start(s.queue)

	n := s.add("Check the disk.")
	require.Contains(t, s.await(n.ID, notebook.NoteFailed).ProcessingError, "does not fit the schema")
	s.awaitJobs("notes_extract cancelled 1/5")

	page, err := s.queue.Jobs(t.Context(), notebook.JobQuery{State: notebook.JobFailed, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, n.ID, *page.Jobs[0].NoteID)
	require.True(t, strings.HasPrefix(page.Jobs[0].Error, "the model's answer does not fit the schema"), page.Jobs[0].Error)
}

func TestJobWithoutAttemptsLeftFailsUntilSomeoneRetriesIt(t *testing.T) {
	s := newServer(t, 1)
	s.script.Route(infer.AgentExtract, script.Reply{Err: overloaded})
	s.extractionAnswers()
	s.start(s.queue)

	n := s.add("Check the disk.")
	require.Contains(t, s.await(n.ID, notebook.NoteFailed).ProcessingError, "overloaded")
	s.awaitJobs("notes_extract discarded 1/1")

	page, err := s.queue.Jobs(t.Context(), notebook.JobQuery{Limit: 10})
	require.NoError(t, err)
	require.NoError(t, s.service.RetryJob(t.Context(), page.Jobs[0].ID, "ben"))
	s.await(n.ID, notebook.NoteDone)
	s.awaitJobs("notes_extract completed 2/2")

	events := s.events(4)
	require.Equal(t, []string{notebook.TypeNoteCaptured, notebook.TypeNoteFailed, notebook.TypeNoteRequeued, notebook.TypeNoteProcessed}, eventTypes(events))
	require.Equal(t, "ben", events[2].Author)

	require.Equal(t, tarsy.CodeConflict, tarsy.CodeOf(s.service.RetryJob(t.Context(), page.Jobs[0].ID, "ben")), "it is completed")
	require.Equal(t, tarsy.CodeJobNotFound, tarsy.CodeOf(s.service.RetryJob(t.Context(), 999, "ben")))
}

func TestJobOfEarlierVersionCannotBeRetried(t *testing.T) {
	s := newServer(t, 1)
	s.script.Route(infer.AgentExtract, script.Reply{Err: overloaded})
	s.start(s.queue)

	n := s.add("Check the disk.")
	s.await(n.ID, notebook.NoteFailed)
	s.awaitJobs("notes_extract discarded 1/1")
	require.NoError(t, s.queue.Pause(t.Context(), notebook.QueueExtract))

	_, err := s.service.Reprocess(t.Context(), n.ID, "ben")
	require.NoError(t, err)

	page, err := s.queue.Jobs(t.Context(), notebook.JobQuery{State: notebook.JobFailed, Limit: 10})
	require.NoError(t, err)
	require.Equal(t, tarsy.CodeConflict, tarsy.CodeOf(s.service.RetryJob(t.Context(), page.Jobs[0].ID, "ben")))
}

func TestPausedQueueKeepsNotesUntilResumed(t *testing.T) {
	s := newServer(t, 5)
	s.extractionAnswers()
	require.NoError(t, s.queue.Pause(t.Context(), notebook.QueueExtract))
	s.start(s.queue)

	n := s.add("Check the disk.")
	swept, err := s.sweeper.Sweep(t.Context())
	require.NoError(t, err)
	require.Zero(t, swept, "it has a job")
	s.awaitJobs("notes_extract available 0/5")
	require.NoError(t, s.queue.Resume(t.Context(), notebook.QueueExtract))
	s.await(n.ID, notebook.NoteDone)
}

// A note that is reprocessed while the model answers gets only the result of its new version.
func TestReprocessingDuringExtractionStoresOneResult(t *testing.T) {
	s := newServer(t, 5)
	gate := s.script.Gate("answer")
	s.script.Route(infer.AgentExtract, script.Reply{Text: `{"entities":[{"type":"task","title":"Old","content":"","owner":"","due_date":"","tags":[],` +
		`"evidence":"Check","confidence":1}]}`, Gate: gate})
	s.extractionAnswers(task("New", "Check the disk"))
	s.organizationAnswers(infer.PlaceAnswer{Confidence: 0.9})
	s.start(s.queue)

	n := s.add("Check the disk.")
	<-gate.Reached()

	again, err := s.service.Reprocess(t.Context(), n.ID, "ben")
	require.NoError(t, err)
	require.Equal(t, int64(2), again.Version)
	require.Equal(t, notebook.NoteQueued, again.Status)
	gate.Open()

	s.await(n.ID, notebook.NoteDone)
	s.awaitJobs("notes_extract completed 1/5", "notes_extract completed 1/5", "entities_organize completed 1/5")
	require.Equal(t, []string{"New"}, s.titles())
}

// A server that shuts down releases its job: the attempt does not count, and another server starts it immediately.
func TestStoppedServerHandsJobOver(t *testing.T) {
	s := newServer(t, 5)
	gate := s.script.Gate("answer")
	s.script.Route(infer.AgentExtract, script.Reply{Text: `{"entities":[]}`, Gate: gate})
	s.extractionAnswers()
	s.queue.Start()

	n := s.add("Check the disk.")
	<-gate.Reached()
	require.NoError(t, s.queue.Stop(context.Background()))
	require.Equal(t, []string{"notes_extract available 0/5"}, s.jobs())
	require.Empty(t, s.note(n.ID).ProcessingError, "nothing failed")

	s.start(s.newQueue(5))
	s.await(n.ID, notebook.NoteDone)
	s.awaitJobs("notes_extract completed 1/5")
}
