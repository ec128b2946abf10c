package tarsytest_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/llm/script"
	"tarsy.dev/tarsy/notebook"
	"tarsy.dev/tarsy/tarsytest"
)

// An example of a test of notes: the model's answers, a note, and the result.
func TestCaptureAndProcessReturnsFiledEntities(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	project := app.Project("Website")
	epic := app.Epic(project.ID, "Login")

	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(
		tarsytest.ExtractedEntity{Title: "Fix the login bug", Owner: "Ana", DueDate: "2026-11-20", Tags: []string{"safari"}},
		tarsytest.ExtractedEntity{Type: notebook.EntityRisk, Title: "Sessions may be lost", Confidence: 0.4},
	))
	app.Script.Route(tarsytest.NoteOrganizer, tarsytest.Organizes(
		tarsytest.Place{ProjectID: project.ID, EpicID: epic.ID},
		tarsytest.Place{ProjectID: project.ID},
	))

	note := app.User("Ben").CaptureAndProcess("Fix the login bug. Sessions may be lost.")

	require.Equal(t, "Ben", note.Author)
	require.Equal(t, notebook.NoteDone, note.Status)
	require.Len(t, note.Entities, 2)
	require.Equal(t, &epic.ID, note.Entities[0].EpicID)
	require.Equal(t, []string{"safari"}, note.Entities[0].Tags)

	// The model was not sure of the risk, so a person decides.
	require.Equal(t, notebook.EntityProposed, note.Entities[1].State)
	require.Len(t, note.ReviewItems, 1)
	require.Equal(t, notebook.ReviewEntity, note.ReviewItems[0].Kind)
}

func TestNoteWithoutEntitiesNeedsNoOrganization(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts())

	note := app.CaptureAndProcess("Nothing to do.")
	require.True(t, note.Processed)
	require.Empty(t, note.Entities)
	require.Empty(t, note.ReviewItems)
}

func TestWorkersOffKeepsNotesWaiting(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{WorkersOff: true})
	app.Script.Route(tarsytest.NoteExtractor, tarsytest.Extracts(tarsytest.ExtractedEntity{Title: "Fix it"}))

	events := app.NoteEvents(0)
	note := app.Capture("Fix it")
	events.WaitNoteEvent(notebook.TypeNoteCaptured, note.ID)
	require.Equal(t, notebook.NoteQueued, app.Note(note.ID).Status)
	require.Empty(t, app.Script.Calls())

	app.StartWorkers()
	require.Len(t, app.WaitEntities(note.ID, 1), 1)
	require.True(t, app.WaitProcessed(note.ID).Processed)
	app.WaitOrganized(note.ID)
	events.WaitNoteEvent(notebook.TypeEntityOrganized, note.ID)
}

func TestAnswerThatBreaksTheSchemaFailsTheNote(t *testing.T) {
	t.Parallel()

	app := tarsytest.New(t, tarsytest.Options{})
	app.Script.Route(tarsytest.NoteExtractor, script.Reply{Text: "There is one task."})

	note := app.WaitNoteFailed(app.Capture("Fix it").ID)
	require.NotEmpty(t, note.ProcessingError)
}
