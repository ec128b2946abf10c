package api_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/api"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/notebook"
)

// noteFixture is a server with notes. Its queue does not run unless a test starts it.
type noteFixture struct {
	*fixture

	store *store.DB
	queue *jobs.Queue
}

func newNoteFixture(t *testing.T, options ...func(*api.Config)) *noteFixture {
	t.Helper()

	f := &noteFixture{}
	f.fixture = newFixture(t, append([]func(*api.Config){func(cfg *api.Config) { f.addNotes(t, cfg) }}, options...)...)

	return f
}

func (f *noteFixture) addNotes(t *testing.T, cfg *api.Config) {
	t.Helper()

	db := cfg.Store

	rows, err := store.Open(t.Context(), store.Config{Write: db.Notes(), Read: db.Readers(), Clock: cfg.Clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })

	processor := &note.Processor{Store: rows, Model: infer.New(infer.Config{})}

	f.store = rows
	f.queue, err = jobs.New(jobs.Config{Pool: db.Jobs(), Hasty: true}, note.NewWorkers(note.WorkersConfig{
		Store: rows, Processor: processor, Tries: 2, Timeout: time.Minute, Extract: 1, Organize: 1, Reprocess: 1,
	}))
	require.NoError(t, err)

	notes := note.New(note.Config{
		Store: rows, Jobs: f.queue.Client(), Session: db.SessionDetail, Tries: 2,
		Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[MASKED]") },
	})
	cfg.Notes = notes
	cfg.NotesPerMinute = 100
	cfg.Jobs = f.queue
}

type captured struct {
	Note notebook.Note `json:"note"`
}

type notePage struct {
	Notes      []notebook.Note `json:"notes"`
	NextCursor string          `json:"next_cursor"`
	Total      int             `json:"total"`
}

// capture captures a note.
func (f *noteFixture) capture(t *testing.T, content string, headers ...string) notebook.Note {
	t.Helper()

	got := f.request(t, http.MethodPost, "/api/v1/notes", `{"content": `+strconv.Quote(content)+`, "source": "cli"}`, headers...)
	require.Equal(t, http.StatusCreated, got.status, got.body)

	return decode[captured](t, got).Note
}

func TestCapturedNoteIsStoredMaskedAndQueued(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t, locked)
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)

	got := f.request(t, http.MethodPost, "/api/v1/notes", `{"content": " rotate hunter2\u0000 today\n", "source": "web"}`, ana...)
	require.Equal(t, http.StatusCreated, got.status, got.body)

	n := decode[captured](t, got).Note
	require.Equal(t, "/api/v1/notes/"+n.ID, got.header.Get("Location"))
	require.Equal(t, notebook.Note{
		ID: n.ID, Content: "rotate [MASKED] today", Source: notebook.NoteFromWeb, Author: "ana", Status: notebook.NoteQueued, Version: 1,
		CreatedAt: f.clock.Now().UTC(), UpdatedAt: f.clock.Now().UTC(),
	}, n)

	detail := get[notebook.NoteDetail](t, f.fixture, "/api/v1/notes/"+n.ID, ana...)
	require.Equal(t, n, detail.Note)
	require.Empty(t, detail.Entities)
	require.NotNil(t, detail.ReviewItems)

	list := get[notePage](t, f.fixture, "/api/v1/notes", ana...)
	require.Equal(t, notePage{Notes: []notebook.Note{n}, Total: 1}, list)
}

func TestRepeatedCaptureReturnsSameNote(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t)
	const body = `{"content": "check the disk", "source": "cli"}`

	first := f.request(t, http.MethodPost, "/api/v1/notes", body, "Idempotency-Key", "one")
	require.Equal(t, http.StatusCreated, first.status, first.body)

	again := f.request(t, http.MethodPost, "/api/v1/notes", body, "Idempotency-Key", "one")
	require.Equal(t, http.StatusOK, again.status, again.body)
	require.Equal(t, decode[captured](t, first), decode[captured](t, again))

	other := f.request(t, http.MethodPost, "/api/v1/notes", `{"content": "check the disks", "source": "cli"}`, "Idempotency-Key", "one")
	f.requireProblem(t, other, http.StatusConflict, tarsy.CodeIdempotencyConflict)
}

func TestCapturesAreLimitedPerKey(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t, locked, func(cfg *api.Config) { cfg.NotesPerMinute = 2 })
	_, ana := f.key(t, "ana", tarsy.ScopeWrite)
	_, ben := f.key(t, "ben", tarsy.ScopeWrite)

	f.capture(t, "one", ana...)
	f.capture(t, "two", ana...)

	refused := f.request(t, http.MethodPost, "/api/v1/notes", `{"content": "three", "source": "cli"}`, ana...)
	f.requireProblem(t, refused, http.StatusTooManyRequests, tarsy.CodeTooManyRequests)
	require.Equal(t, "30", refused.header.Get("Retry-After"))
	f.capture(t, "one", ben...)

	f.clock.Advance(30 * time.Second)
	f.capture(t, "three", ana...)
}

func TestNotesAreListedByFilterAndPage(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t)
	session := f.session(t, func(s *tarsy.Session) { s.Status, s.FinalAnalysis = tarsy.SessionCompleted, "the disk is full" })

	var ids []string

	for _, content := range []string{"rotate the keys", "check the disk", "call the vendor"} {
		ids = append(ids, f.capture(t, content).ID)
		f.clock.Advance(time.Second)
	}

	got := f.request(t, http.MethodPost, "/api/v1/notes", `{"source": "session", "session_id": "`+session+`"}`)
	require.Equal(t, http.StatusCreated, got.status, got.body)

	kept := decode[captured](t, got).Note
	require.Equal(t, "the disk is full", kept.Content)
	require.Equal(t, session, *kept.SessionID)

	for filter, want := range map[string][]string{
		"q=Disk":                          {kept.ID, ids[1]},
		"q=disk+check":                    {ids[1]},
		"session_id=" + session:           {kept.ID},
		"source=session":                  {kept.ID},
		"status=done,failed":              nil,
		"status=queued,done&source=cli":   {ids[2], ids[1], ids[0]},
		"source=cli&limit=200&q=vendor":   {ids[2]},
		"session_id=" + ident.New():       nil,
		"status=extracted&source=session": nil,
	} {
		page := get[notePage](t, f.fixture, "/api/v1/notes?"+filter)
		require.Equal(t, want, noteIDs(page.Notes), filter)
		require.Equal(t, len(want), page.Total, filter)
	}

	first := get[notePage](t, f.fixture, "/api/v1/notes?limit=3")
	require.Equal(t, []string{kept.ID, ids[2], ids[1]}, noteIDs(first.Notes))
	require.Equal(t, 4, first.Total)

	last := get[notePage](t, f.fixture, "/api/v1/notes?limit=3&cursor="+first.NextCursor)
	require.Equal(t, []string{ids[0]}, noteIDs(last.Notes))
	require.Empty(t, last.NextCursor)
}

func noteIDs(notes []notebook.Note) (ids []string) {
	for _, n := range notes {
		ids = append(ids, n.ID)
	}

	return ids
}

func TestNotesAreQueuedAgain(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t)
	n := f.capture(t, "check the disk")

	again := f.request(t, http.MethodPost, "/api/v1/notes/"+n.ID+"/reprocess", "")
	require.Equal(t, http.StatusAccepted, again.status, again.body)
	require.Equal(t, int64(2), decode[captured](t, again).Note.Version)

	many := f.request(t, http.MethodPost, "/api/v1/notes/reprocess", `{"since": "2026-11-01T00:00:00Z"}`)
	require.Equal(t, http.StatusAccepted, many.status, many.body)
	require.JSONEq(t, `{"count": 0}`, many.body, "it is being processed")
}

func TestWrongRequestsAboutNotesAreRefused(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t)
	running := f.session(t, func(*tarsy.Session) {})
	missing := ident.New()

	for _, c := range []struct {
		method, path, body string
		status             int
		code               tarsy.Code
		field              string
	}{
		{http.MethodPost, "/api/v1/notes", ``, http.StatusBadRequest, tarsy.CodeInvalidJSON, ""},
		{http.MethodPost, "/api/v1/notes", `{"content": "x"}`, http.StatusBadRequest, tarsy.CodeMissingField, "source"},
		{http.MethodPost, "/api/v1/notes", `{"content": "x", "source": "mail"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "source"},
		{http.MethodPost, "/api/v1/notes", `{"content": " ", "source": "cli"}`, http.StatusBadRequest, tarsy.CodeMissingField, "content"},
		{http.MethodPost, "/api/v1/notes", `{"content": 7, "source": "cli"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "content"},
		{http.MethodPost, "/api/v1/notes", `{"content": "x", "source": "cli", "author": "me"}`, http.StatusBadRequest, tarsy.CodeUnknownField, "author"},
		{http.MethodPost, "/api/v1/notes", `{"content": "` + strings.Repeat("x", notebook.MaxNoteBytes+1) + `", "source": "cli"}`, http.StatusRequestEntityTooLarge, tarsy.CodeTooLarge, "content"},
		{http.MethodPost, "/api/v1/notes", `{"source": "session"}`, http.StatusBadRequest, tarsy.CodeMissingField, "session_id"},
		{http.MethodPost, "/api/v1/notes", `{"source": "session", "session_id": "` + missing + `"}`, http.StatusNotFound, tarsy.CodeSessionNotFound, ""},
		{http.MethodPost, "/api/v1/notes", `{"source": "session", "session_id": "` + running + `"}`, http.StatusConflict, tarsy.CodeSessionNotOver, ""},
		{http.MethodGet, "/api/v1/notes?status=lost", "", http.StatusBadRequest, tarsy.CodeInvalidParameter, "status"},
		{http.MethodGet, "/api/v1/notes?status=done,", "", http.StatusBadRequest, tarsy.CodeInvalidParameter, "status"},
		{http.MethodGet, "/api/v1/notes?source=mail", "", http.StatusBadRequest, tarsy.CodeInvalidParameter, "source"},
		{http.MethodGet, "/api/v1/notes?session_id=x", "", http.StatusBadRequest, tarsy.CodeInvalidParameter, "session_id"},
		{http.MethodGet, "/api/v1/notes?limit=0", "", http.StatusBadRequest, tarsy.CodeInvalidParameter, "limit"},
		{http.MethodGet, "/api/v1/notes?q=" + strings.Repeat("x", 201), "", http.StatusBadRequest, tarsy.CodeInvalidParameter, "q"},
		{http.MethodGet, "/api/v1/notes?cursor=x", "", http.StatusBadRequest, tarsy.CodeInvalidCursor, "cursor"},
		{http.MethodGet, "/api/v1/notes/" + missing, "", http.StatusNotFound, tarsy.CodeNoteNotFound, ""},
		{http.MethodGet, "/api/v1/notes/x", "", http.StatusNotFound, tarsy.CodeNoteNotFound, ""},
		{http.MethodPost, "/api/v1/notes/" + missing + "/reprocess", "", http.StatusNotFound, tarsy.CodeNoteNotFound, ""},
		{http.MethodPost, "/api/v1/notes/" + missing + "/reprocess", `{"force": true}`, http.StatusBadRequest, tarsy.CodeUnknownField, "force"},
		{http.MethodPost, "/api/v1/notes/reprocess", `{}`, http.StatusBadRequest, tarsy.CodeMissingField, "since"},
		{http.MethodPost, "/api/v1/notes/reprocess", `{"since": "yesterday"}`, http.StatusBadRequest, tarsy.CodeInvalidField, "since"},
	} {
		got := f.request(t, c.method, c.path, c.body)
		require.Equal(t, c.field, f.requireProblem(t, got, c.status, c.code).Field, "%s %s", c.path, got.body)
	}

	require.Zero(t, get[notePage](t, f.fixture, "/api/v1/notes").Total)
}
