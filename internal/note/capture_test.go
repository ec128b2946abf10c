package note_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

func TestCaptureStoresNoteJobAndEventTogether(t *testing.T) {
	s := newServer(t, 5)

	n := s.add("  rotate hunter2\x00 \xff today\n")
	require.Equal(t, "rotate [MASKED] � today", n.Content)
	require.Equal(t, n, s.stored(n.ID))
	require.Equal(t, []string{"notes_extract available 0/5"}, s.jobs())

	events := s.events(1)
	require.Equal(t, notebook.NotePayload{
		Type: notebook.TypeNoteCaptured, NoteID: n.ID, Status: "queued", Author: "ana", Timestamp: captured,
	}, events[0])

	s.execute(`ALTER TABLE pgjournal_entries RENAME TO elsewhere`)

	_, _, err := s.service.Capture(t.Context(), notebook.NoteInput{Content: "x", Source: notebook.NoteFromCLI})
	require.Error(t, err)
	s.execute(`ALTER TABLE elsewhere RENAME TO pgjournal_entries`)
	require.Len(t, s.jobs(), 1, "without the event there is no job")

	page, err := s.service.Notes(t.Context(), notebook.NoteQuery{Limit: 10})
	require.NoError(t, err)
	require.Equal(t, 1, page.Total, "and no note")
}

// stored returns a note with its times in UTC, as captured.
func (s *server) stored(id string) notebook.Note {
	s.Helper()

	n := s.note(id)
	n.CreatedAt, n.UpdatedAt = n.CreatedAt.UTC(), n.UpdatedAt.UTC()

	return n
}

func TestCaptureRejectsInvalidInput(t *testing.T) {
	s := newServer(t, 5)

	running, silent, long := session(tarsy.SessionInProgress, ""), session(tarsy.SessionFailed, " "), session(tarsy.SessionCompleted, strings.Repeat("ä", notebook.MaxNoteBytes))
	for _, one := range []tarsy.SessionDetail{running, silent, long} {
		s.sessions[one.ID] = one
	}

	for name, c := range map[string]struct {
		input notebook.NoteInput
		code  tarsy.Code
		field string
	}{
		"no source":           {notebook.NoteInput{Content: "x"}, tarsy.CodeInvalidField, "source"},
		"unknown source":      {notebook.NoteInput{Content: "x", Source: "mail"}, tarsy.CodeInvalidField, "source"},
		"no content":          {notebook.NoteInput{Content: " \n\x00", Source: notebook.NoteFromWeb}, tarsy.CodeMissingField, "content"},
		"too large":           {notebook.NoteInput{Content: strings.Repeat("x", notebook.MaxNoteBytes+1), Source: notebook.NoteFromWeb}, tarsy.CodeTooLarge, "content"},
		"no session":          {notebook.NoteInput{Content: "x", Source: notebook.NoteFromSession}, tarsy.CodeMissingField, "session_id"},
		"unknown session":     {notebook.NoteInput{Content: "x", Source: notebook.NoteFromWeb, SessionID: ident.New()}, tarsy.CodeSessionNotFound, ""},
		"no content of web":   {notebook.NoteInput{Source: notebook.NoteFromWeb, SessionID: long.ID}, tarsy.CodeMissingField, "content"},
		"session not over":    {notebook.NoteInput{Source: notebook.NoteFromSession, SessionID: running.ID}, tarsy.CodeSessionNotOver, ""},
		"session has no text": {notebook.NoteInput{Source: notebook.NoteFromSession, SessionID: silent.ID}, tarsy.CodeMissingField, "content"},
	} {
		_, _, err := s.service.Capture(t.Context(), c.input)
		require.Equal(t, c.code, tarsy.CodeOf(err), "%s: %v", name, err)

		var wrong *tarsy.Error

		require.ErrorAs(t, err, &wrong)
		require.Equal(t, c.field, wrong.Field, name)
	}

	require.Empty(t, s.jobs())

	n, _, err := s.service.Capture(t.Context(), notebook.NoteInput{Source: notebook.NoteFromSession, SessionID: running.ID, Content: "look later"})
	require.NoError(t, err, "what a person writes needs no end")
	require.Equal(t, running.ID, *n.SessionID)

	n, _, err = s.service.Capture(t.Context(), notebook.NoteInput{Source: notebook.NoteFromSession, SessionID: long.ID})
	require.NoError(t, err)
	require.LessOrEqual(t, len(n.Content), notebook.MaxNoteBytes)
	require.True(t, strings.HasPrefix(n.Content, "ää") && strings.HasSuffix(n.Content, "ää"))

	n, _, err = s.service.Capture(t.Context(), notebook.NoteInput{Source: notebook.NoteFromWeb, Content: strings.Repeat("x", notebook.MaxNoteBytes)})
	require.NoError(t, err)
	require.Len(t, n.Content, notebook.MaxNoteBytes)
}

func session(status tarsy.SessionStatus, analysis string) tarsy.SessionDetail {
	return tarsy.SessionDetail{Session: tarsy.Session{ID: ident.New(), Status: status, FinalAnalysis: analysis}}
}

func TestIdempotencyKeyReturnsSameNote(t *testing.T) {
	s := newServer(t, 5)
	about := session(tarsy.SessionCompleted, "the disk is full")
	s.sessions[about.ID] = about

	input := notebook.NoteInput{
		Source: notebook.NoteFromSession, SessionID: about.ID, Idempotency: &tarsy.IdempotencyKey{Hash: []byte("key"), Fingerprint: []byte("body")},
	}

	first, created, err := s.service.Capture(t.Context(), input)
	require.NoError(t, err)
	require.True(t, created)

	delete(s.sessions, about.ID) // purged: the response does not change

	again, created, err := s.service.Capture(t.Context(), input)
	require.NoError(t, err)
	require.False(t, created)
	require.Equal(t, first.ID, again.ID)
	require.Len(t, s.jobs(), 1)

	input.Idempotency = &tarsy.IdempotencyKey{Hash: []byte("key"), Fingerprint: []byte("another body")}
	_, _, err = s.service.Capture(t.Context(), input)
	require.Equal(t, tarsy.CodeIdempotencyConflict, tarsy.CodeOf(err))
}

func TestConcurrentCapturesWithSameKeyMakeOneNote(t *testing.T) {
	s := newServer(t, 5)

	const callers = 12

	var (
		running sync.WaitGroup
		mu      sync.Mutex
		ids     = map[string]bool{}
		created int
	)

	for range callers {
		running.Go(func() {
			n, isNew, err := s.service.Capture(t.Context(), notebook.NoteInput{
				Content: "x", Source: notebook.NoteFromCLI, Author: "ana", Idempotency: &tarsy.IdempotencyKey{Hash: []byte("key"), Fingerprint: []byte("body")},
			})
			if err != nil {
				t.Error(err)
			}

			mu.Lock()
			defer mu.Unlock()

			ids[n.ID] = true
			if isNew {
				created++
			}
		})
	}

	running.Wait()
	require.Len(t, ids, 1)
	require.Equal(t, 1, created)
	require.Len(t, s.jobs(), 1)
}
