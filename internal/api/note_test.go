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
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/internal/note/infer"
	"tarsy.dev/tarsy/internal/note/store"
	"tarsy.dev/tarsy/internal/postgres"
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

	db, ok := cfg.Store.(*postgres.DB)
	require.True(t, ok)

	rows, err := store.Open(t.Context(), store.Config{Write: db.Notes(), Read: db.Readers(), Clock: cfg.Clock})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, rows.Close()) })

	processor := &note.Processor{Store: rows, Model: infer.New(infer.Config{})}

	f.store = rows
	f.queue, err = jobs.New(jobs.Config{Pool: db.Jobs(), Hasty: true}, note.NewWorkers(note.WorkersConfig{
		Store: rows, Processor: processor, Tries: 2, Timeout: time.Minute, Extract: 1, Organize: 1, Reprocess: 1,
	}))
	require.NoError(t, err)

	cfg.Notes = note.New(note.Config{
		Store: rows, Jobs: f.queue.Client(), Session: db.SessionDetail, Tries: 2,
		Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[MASKED]") },
	})
	cfg.NotesPerMinute = 100
}

type captured struct {
	Note tarsy.Note `json:"note"`
}

type notePage struct {
	Notes      []tarsy.Note `json:"notes"`
	NextCursor string       `json:"next_cursor"`
	Total      int          `json:"total"`
}

// capture captures a note.
func (f *noteFixture) capture(t *testing.T, content string, headers ...string) tarsy.Note {
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
	require.Equal(t, tarsy.Note{
		ID: n.ID, Content: "rotate [MASKED] today", Source: tarsy.NoteFromWeb, Author: "ana", Status: tarsy.NoteQueued, Version: 1,
		CreatedAt: f.clock.Now().UTC(), UpdatedAt: f.clock.Now().UTC(),
	}, n)

	detail := get[tarsy.NoteDetail](t, f.fixture, "/api/v1/notes/"+n.ID, ana...)
	require.Equal(t, n, detail.Note)
	require.Empty(t, detail.Entities)
	require.NotNil(t, detail.ReviewItems)

	list := get[notePage](t, f.fixture, "/api/v1/notes", ana...)
	require.Equal(t, notePage{Notes: []tarsy.Note{n}, Total: 1}, list)
}
