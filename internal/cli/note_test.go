package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

func TestNoteIsCapturedFromArgumentAndStdin(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)

	got := tarsyWith(t, s.env, "", "note", "nothing to see")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	id := strings.TrimSpace(got.stdout)
	require.True(t, ident.Valid(id), got.stdout)
	require.Contains(t, got.stderr, "http://"+s.Addr()+"/notes/"+id)

	for _, args := range [][]string{{"note", "-", "-o", "json"}, {"note", "-o", "json"}} {
		got = tarsyWith(t, s.env, "nothing from stdin\n", args...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)

		var note notebook.Note

		require.NoError(t, json.Unmarshal([]byte(got.stdout), &note))
		require.Equal(t, "nothing from stdin", strings.TrimSpace(note.Content))
		require.Equal(t, notebook.NoteFromCLI, note.Source)
	}

	same := tarsyWith(t, s.env, "", "note", "nothing twice", "--idempotency-key", "k1")
	again := tarsyWith(t, s.env, "", "note", "nothing twice", "--idempotency-key", "k1")
	require.Equal(t, same.stdout, again.stdout)

	list := tarsyWith(t, s.env, "", "notes")
	require.Equal(t, cli.ExitOK, list.code, list.stderr)
	require.Equal(t, 5, strings.Count(list.stdout, "\n"), list.stdout)
	require.Contains(t, list.stdout, "nothing to see")
	require.Contains(t, list.stdout, id[len(id)-12:])

	var notes []notebook.Note

	list = tarsyWith(t, s.env, "", "notes", "--search", "stdin", "--all", "-o", "json")
	require.NoError(t, json.Unmarshal([]byte(list.stdout), &notes))
	require.Len(t, notes, 2)

	require.Contains(t, tarsyWith(t, s.env, "", "notes", "--source", "discord").stderr, "No notes found.")

	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"note"}, cli.ExitUsage, "no note given"},
		{[]string{"note", "x", "--from-session", "5f3a9c21"}, cli.ExitUsage, "given twice"},
		{[]string{"note", "x", "--session", "5f3a9c21"}, cli.ExitNotFound, "no session matches"},
		{[]string{"note", strings.Repeat("x", notebook.MaxNoteBytes+1)}, cli.ExitFailed, "larger"},
		{[]string{"notes", "--limit", "0"}, cli.ExitUsage, "--limit"},
		{[]string{"notes", "--status", "late"}, cli.ExitUsage, `"late"`},
	} {
		got := tarsyWith(t, s.env, "", c.args...)
		require.Equal(t, c.code, got.code, "%.60s: %s", strings.Join(c.args, " "), got.stderr)
		require.Contains(t, got.stderr, c.want)
	}
}

func TestNoteWaitsForWhatWasExtracted(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)

	got := tarsyWith(t, s.env, "", "note", "--wait", "Ana rotates the keys")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `task +proposed +Ana +2026-12-01 +Rotate the keys`, got.stdout)
	require.Contains(t, got.stderr, "Review: entity")
	require.Contains(t, got.stderr, "To decide: 1.")

	got = tarsyWith(t, s.env, "", "note", "--wait", "there is nothing")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Empty(t, got.stdout)
	require.Contains(t, got.stderr, "Nothing was extracted")

	// The model answers with something other than an extraction.
	got = tarsyWith(t, s.env, "", "note", "--wait", "-o", "json", "broken")
	require.Equal(t, cli.ExitNotCompleted, got.code, got.stderr)
	require.Contains(t, got.stderr, "could not be processed")

	var detail notebook.NoteDetail

	require.NoError(t, json.Unmarshal([]byte(got.stdout), &detail))
	require.Equal(t, notebook.NoteFailed, detail.Status)
	require.NotEmpty(t, detail.ProcessingError)
}

func TestNoteKeepsAnalysisOfFinishedSession(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	session := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "slow").stdout)
	s.until(t, session, tarsy.SessionCompleted)

	got := tarsyWith(t, s.env, "", "note", "--from-session", session[len(session)-12:], "-o", "json")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	var note notebook.Note

	require.NoError(t, json.Unmarshal([]byte(got.stdout), &note))
	require.Equal(t, notebook.NoteFromSession, note.Source)
	require.Equal(t, &session, note.SessionID)
	require.Contains(t, note.Content, "The cache has no bound.")

	require.Contains(t, tarsyWith(t, s.env, "", "notes", "--session", session).stdout, "Found it")
}
