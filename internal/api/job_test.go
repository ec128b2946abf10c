package api_test

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/notebook"
)

type jobPage struct {
	Queues     []notebook.JobQueue `json:"queues"`
	Jobs       []notebook.Job      `json:"jobs"`
	NextCursor string              `json:"next_cursor"`
	Total      int                 `json:"total"`
}

// execute changes rows the way the queue would.
func (f *noteFixture) execute(t *testing.T, sql string) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), f.url)
	require.NoError(t, err)

	_, err = conn.Exec(t.Context(), sql)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
}

func TestJobsAreListedWithTheirNotesAndErrors(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t)

	var notes []notebook.Note
	for i := range 4 {
		notes = append(notes, f.capture(t, fmt.Sprintf("note %d", i)))
	}

	f.execute(t, `
UPDATE river_job SET state = 'discarded', attempt = 2, attempted_at = now(), finalized_at = now(), errors = ARRAY['{"attempt": 1, "error": "first"}'::jsonb, '{"attempt": 2, "error": "overloaded"}'::jsonb]
WHERE args->>'note_id' = '`+notes[0].ID+`'`)
	f.execute(t, `UPDATE river_job SET attempt = 1, errors = ARRAY['{"error": "again"}'::jsonb] WHERE args->>'note_id' = '`+notes[1].ID+`'`)
	f.execute(t, `UPDATE river_job SET state = 'running', attempt = 1, attempted_at = now() WHERE args->>'note_id' = '`+notes[2].ID+`'`)

	page := get[jobPage](t, f.fixture, "/api/v1/jobs")
	require.Equal(t, []notebook.JobQueue{
		{Name: "entities-organize"}, {Name: "notes-extract", Waiting: 1, Running: 1, Retrying: 1, Failed: 1}, {Name: "notes-reprocess"},
	}, page.Queues)
	require.Equal(t, 4, page.Total)
	require.Equal(t, notebook.JobWaiting, page.Jobs[0].State)

	failed := get[jobPage](t, f.fixture, "/api/v1/jobs?state=failed&queue=notes-extract")
	require.Equal(t, 1, failed.Total)
	require.Equal(t, notes[0].ID, *failed.Jobs[0].NoteID)
	require.Equal(t, int64(1), failed.Jobs[0].NoteVersion)
	require.Equal(t, "overloaded", failed.Jobs[0].Error)
	require.Equal(t, notebook.JobFailed, failed.Jobs[0].State)

	for state, note := range map[notebook.JobState]notebook.Note{notebook.JobRetrying: notes[1], notebook.JobRunning: notes[2], notebook.JobWaiting: notes[3]} {
		found := get[jobPage](t, f.fixture, "/api/v1/jobs?state="+string(state))
		require.Equal(t, 1, found.Total, state)
		require.Equal(t, note.ID, *found.Jobs[0].NoteID)
	}

	first := get[jobPage](t, f.fixture, "/api/v1/jobs?limit=3")
	require.Len(t, first.Jobs, 3)
	require.Equal(t, notes[0].ID, *get[jobPage](t, f.fixture, "/api/v1/jobs?limit=3&cursor="+first.NextCursor).Jobs[0].NoteID)
	require.Zero(t, get[jobPage](t, f.fixture, "/api/v1/jobs?queue=notes-reprocess").Total)
}

func TestFailedJobIsRetried(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t)
	n := f.capture(t, "check the disk")
	f.execute(t, `UPDATE river_job SET state = 'discarded', attempt = 2, finalized_at = now(), errors = ARRAY['{"error": "overloaded"}'::jsonb]`)
	f.execute(t, `UPDATE notes SET status = 'failed', processing_error = 'overloaded'`)

	job := get[jobPage](t, f.fixture, "/api/v1/jobs").Jobs[0]
	got := f.request(t, http.MethodPost, fmt.Sprintf("/api/v1/jobs/%d/retry", job.ID), "")
	require.Equal(t, http.StatusAccepted, got.status, got.body)
	require.Equal(t, notebook.JobRetrying, decode[notebook.Job](t, got).State)

	detail := get[notebook.NoteDetail](t, f.fixture, "/api/v1/notes/"+n.ID)
	require.Equal(t, notebook.NoteQueued, detail.Status)
	require.Empty(t, detail.ProcessingError)

	f.execute(t, `UPDATE river_job SET state = 'completed', finalized_at = now()`)
	f.requireProblem(t, f.request(t, http.MethodPost, fmt.Sprintf("/api/v1/jobs/%d/retry", job.ID), ""), http.StatusConflict, tarsy.CodeConflict)
}

func TestQueueIsPausedAndResumed(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t, locked)
	_, admin := f.key(t, "ops", tarsy.ScopeAdmin)
	_, writer := f.key(t, "ana", tarsy.ScopeWrite)

	f.requireProblem(t, f.request(t, http.MethodPost, "/api/v1/queues/notes-extract/pause", "", writer...), http.StatusForbidden, tarsy.CodeForbidden)

	for action, paused := range map[string]bool{"pause": true, "resume": false} {
		for range 2 { // the second time changes nothing
			got := f.request(t, http.MethodPost, "/api/v1/queues/notes-extract/"+action, "", admin...)
			require.Equal(t, http.StatusOK, got.status, got.body)
			require.Equal(t, paused, decode[notebook.JobQueue](t, got).Paused)
			require.Equal(t, paused, get[jobPage](t, f.fixture, "/api/v1/jobs", writer...).Queues[1].Paused)
		}
	}

	require.Contains(t, f.log.String(), `msg="queue paused"`)
}

func TestWrongRequestsAboutJobsAreRefused(t *testing.T) {
	t.Parallel()

	f := newNoteFixture(t)

	for _, c := range []struct {
		method, path, body string
		status             int
		code               tarsy.Code
	}{
		{http.MethodGet, "/api/v1/jobs?state=lost", "", http.StatusBadRequest, tarsy.CodeInvalidParameter},
		{http.MethodGet, "/api/v1/jobs?queue=lost", "", http.StatusNotFound, tarsy.CodeQueueNotFound},
		{http.MethodGet, "/api/v1/jobs?limit=x", "", http.StatusBadRequest, tarsy.CodeInvalidParameter},
		{http.MethodGet, "/api/v1/jobs?cursor=x", "", http.StatusBadRequest, tarsy.CodeInvalidCursor},
		{http.MethodPost, "/api/v1/jobs/7/retry", "", http.StatusNotFound, tarsy.CodeJobNotFound},
		{http.MethodPost, "/api/v1/jobs/x/retry", "", http.StatusNotFound, tarsy.CodeJobNotFound},
		{http.MethodPost, "/api/v1/jobs/7/retry", `{"now": true}`, http.StatusBadRequest, tarsy.CodeUnknownField},
		{http.MethodPost, "/api/v1/queues/lost/pause", "", http.StatusNotFound, tarsy.CodeQueueNotFound},
		{http.MethodPost, "/api/v1/queues/lost/resume", "", http.StatusNotFound, tarsy.CodeQueueNotFound},
		{http.MethodPost, "/api/v1/queues/notes-extract/pause", `{"now": true}`, http.StatusBadRequest, tarsy.CodeUnknownField},
	} {
		f.requireProblem(t, f.request(t, c.method, c.path, c.body), c.status, c.code)
	}
}
