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

// CaptureNote captures a note as the body has it. Headers are names and values in turn.
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

// CaptureAndProcess captures a note and waits until it is processed completely. Before, the script gets its answers: see Extracts and
// Organizes. A note without entities is done after its extraction: there is no organization to wait for.
func (a *App) CaptureAndProcess(content string) notebook.NoteDetail {
	a.t.Helper()

	return a.WaitOrganized(a.Capture(content).ID)
}

// WaitProcessed waits until the entities of a note were extracted, also if there are none.
func (a *App) WaitProcessed(noteID string) notebook.NoteDetail {
	a.t.Helper()

	return a.waitNote(noteID, "the note to be processed", func(n notebook.NoteDetail) bool { return n.Processed })
}

// WaitEntities waits until a note has at least so many entities.
func (a *App) WaitEntities(noteID string, count int) []notebook.EntityDetail {
	a.t.Helper()

	return a.waitNote(noteID, fmt.Sprintf("%d entities", count), func(n notebook.NoteDetail) bool { return len(n.Entities) >= count }).Entities
}

// WaitOrganized waits until a note is done: its entities, if there are any, were organized.
func (a *App) WaitOrganized(noteID string) notebook.NoteDetail {
	a.t.Helper()

	return a.waitNote(noteID, "the note to be done", func(n notebook.NoteDetail) bool { return n.Status == notebook.NoteDone })
}

// WaitNoteFailed waits until processing a note has failed for good.
func (a *App) WaitNoteFailed(noteID string) notebook.NoteDetail {
	a.t.Helper()

	return a.waitNote(noteID, "processing the note to fail", func(n notebook.NoteDetail) bool { return n.Status == notebook.NoteFailed })
}

// waitNote waits for what the database has of a note, which is there however fast the workers were. A note that has failed changes no
// more, so then the test fails at once.
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

// NoteEvents reads the journal of notes over SSE, from after a number on. The stream does not end by itself.
func (a *App) NoteEvents(lastEventID int64) *EventStream {
	a.t.Helper()

	return a.stream("/api/v1/notes/events", lastEventID)
}

// WaitNoteEvent waits for the event of a type that is about a note.
func (s *EventStream) WaitNoteEvent(eventType, noteID string) Event {
	s.t.Helper()

	return s.Wait(eventType+" of note "+noteID, func(e Event) bool { return e.Type == eventType && e.Fields["note_id"] == noteID })
}
