package tarsytest

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/notebook"
)

// Capture captures a note, as `tarsy note` does.
func (a *App) Capture(content string) notebook.Note {
	a.t.Helper()

	return a.CaptureNote(map[string]any{"content": content, "source": notebook.NoteFromCLI})
}

// CaptureNote captures a note with this request body. Headers are alternating names and values.
func (a *App) CaptureNote(body any, headers ...string) notebook.Note {
	a.t.Helper()

	answer := a.Do(http.MethodPost, "/api/v1/notes", body, headers...)
	require.Equal(a.t, http.StatusCreated, answer.Status, "body: %s", answer.Body)

	var captured struct {
		Note notebook.Note `json:"note"`
	}

	answer.Decode(a.t, &captured)

	return captured.Note
}

// Note reads a note with its entities and review items.
func (a *App) Note(noteID string) notebook.NoteDetail {
	a.t.Helper()

	var detail notebook.NoteDetail

	a.get("/api/v1/notes/"+noteID, &detail)

	return detail
}

// CaptureAndProcess captures a note and waits until it is completely processed. Script the model's answers first, see
// Extracts and Organizes. A note without entities is done after its extraction, since there is nothing to organize.
func (a *App) CaptureAndProcess(content string) notebook.NoteDetail {
	a.t.Helper()

	return a.WaitOrganized(a.Capture(content).ID)
}

// WaitProcessed waits until the entities of a note, if any, have been extracted.
func (a *App) WaitProcessed(noteID string) notebook.NoteDetail {
	a.t.Helper()

	return a.waitNote(noteID, "the note to be processed", func(n notebook.NoteDetail) bool { return n.Processed })
}

// WaitEntities waits until a note has at least count entities.
func (a *App) WaitEntities(noteID string, count int) []notebook.EntityDetail {
	a.t.Helper()

	return a.waitNote(noteID, fmt.Sprintf("%d entities", count), func(n notebook.NoteDetail) bool { return len(n.Entities) >= count }).Entities
}

// WaitOrganized waits until a note is done: its entities, if any, have been organized.
func (a *App) WaitOrganized(noteID string) notebook.NoteDetail {
	a.t.Helper()

	return a.waitNote(noteID, "the note to be done", func(n notebook.NoteDetail) bool { return n.Status == notebook.NoteDone })
}

// WaitNoteFailed waits until processing a note has failed permanently.
func (a *App) WaitNoteFailed(noteID string) notebook.NoteDetail {
	a.t.Helper()

	return a.waitNote(noteID, "processing the note to fail", func(n notebook.NoteDetail) bool { return n.Status == notebook.NoteFailed })
}

// waitNote polls the stored note, so it does not matter how fast the workers are. A failed note does not change again, so
// the test then fails immediately.
func (a *App) waitNote(noteID, what string, fits func(notebook.NoteDetail) bool) notebook.NoteDetail {
	a.t.Helper()

	var found notebook.NoteDetail

	a.WaitAnswer("/api/v1/notes/"+noteID, what, func(answer Response) bool {
		if answer.Status != http.StatusOK { // the database may be restarting
			return false
		}

		found = notebook.NoteDetail{}
		require.NoError(a.t, json.Unmarshal(answer.Body, &found))

		if fits(found) {
			return true
		}

		require.NotEqual(a.t, notebook.NoteFailed, found.Status, "waiting for %s, but: %s", what, found.ProcessingError)

		return false
	})

	return found
}

// NoteEvents reads the journal of notes over SSE, starting after lastEventID. The stream does not end on its own.
func (a *App) NoteEvents(lastEventID int64) *EventStream {
	a.t.Helper()

	return a.stream("/api/v1/notes/events", lastEventID)
}

// WaitNoteEvent waits for an event of a type about a note.
func (s *EventStream) WaitNoteEvent(eventType, noteID string) Event {
	s.t.Helper()

	return s.Wait(eventType+" of note "+noteID, func(e Event) bool { return e.Type == eventType && e.Fields["note_id"] == noteID })
}
