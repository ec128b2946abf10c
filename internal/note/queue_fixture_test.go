package note_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/jobs"
	"tarsy.dev/tarsy/internal/note"
	"tarsy.dev/tarsy/notebook"
)

// server is a processor with capture, queue and sweep.
type server struct {
	*processing

	service *note.Service
	queue   *jobs.Queue
	sweeper *note.Sweeper
	// sessions maps the IDs of sessions that a note can be about.
	sessions map[string]tarsy.SessionDetail
}

// newServer returns a server whose queue is not started. tries is the maximum number of attempts per job.
func newServer(t *testing.T, tries int) *server {
	t.Helper()

	s := &server{processing: newProcessing(t), sessions: map[string]tarsy.SessionDetail{}}
	s.queue = s.newQueue(tries)
	s.service = note.New(note.Config{
		Store: s.Store, Jobs: s.queue.Client(), Tries: note.Tries(tries),
		Session: func(_ context.Context, id string) (*tarsy.SessionDetail, error) {
			session, ok := s.sessions[id]
			if !ok {
				return nil, tarsy.Errorf(tarsy.CodeSessionNotFound, "there is no session %s", id)
			}

			return &session, nil
		},
		Mask: func(text string) string { return strings.ReplaceAll(text, "hunter2", "[MASKED]") },
	})
	s.sweeper = note.NewSweeper(s.service, s.Processor)

	return s
}

// newQueue returns the queue of another server on the same database.
func (s *server) newQueue(tries int) *jobs.Queue {
	s.Helper()

	pool, err := pgxpool.New(s.Context(), s.pool.Config().ConnString())
	require.NoError(s, err)
	s.Cleanup(pool.Close)

	queue, err := jobs.New(jobs.Config{Pool: pool, Hasty: true, PollEvery: 100 * time.Millisecond, Grace: 50 * time.Millisecond},
		note.NewWorkers(note.WorkersConfig{
			Store: s.Store, Processor: s.Processor, Tries: note.Tries(tries), Timeout: time.Minute, Extract: 2, Organize: 2, Reprocess: 1,
		}))
	require.NoError(s, err)

	return queue
}

func (s *server) start(queue *jobs.Queue) {
	s.Helper()
	queue.Start()
	s.Cleanup(func() { require.NoError(s, queue.Stop(context.Background())) })
}

// add captures a note.
func (s *server) add(content string) notebook.Note {
	s.Helper()

	n, created, err := s.service.Capture(s.Context(), notebook.NoteInput{Content: content, Source: notebook.NoteFromCLI, Author: "ana"})
	require.NoError(s, err)
	require.True(s, created)

	return n
}

// await waits until a note has a status and returns it.
func (s *server) await(id string, status notebook.NoteStatus) notebook.Note {
	s.Helper()

	s.awaitf(func() bool { return s.note(id).Status == status }, "note to be %s", status)

	return s.note(id)
}

// awaitf polls until happened returns true. It does not sleep, because each call takes a round trip to the database.
func (s *server) awaitf(happened func() bool, format string, args ...any) {
	s.Helper()

	for deadline := time.Now().Add(patience); !happened(); {
		if time.Now().After(deadline) {
			require.FailNow(s, "timed out waiting for "+fmt.Sprintf(format, args...), "%+v", s.jobs())
		}
	}
}

// jobs returns all jobs, oldest first, as "kind state attempt/max_attempts".
func (s *server) jobs() []string {
	s.Helper()

	rows, err := s.pool.Query(s.Context(), `SELECT kind || ' ' || state || ' ' || attempt || '/' || max_attempts FROM river_job ORDER BY id`)
	require.NoError(s, err)

	found, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s, err)

	return found
}

func (s *server) awaitJobs(want ...string) {
	s.Helper()
	s.awaitf(func() bool { return strings.Join(s.jobs(), ", ") == strings.Join(want, ", ") }, "jobs %v", want)
}

// breakQueue makes every insert of a job fail until repair is called.
func (s *server) breakQueue() (repair func()) {
	s.Helper()
	s.execute(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no space left'; END $$`)
	s.execute(`CREATE TRIGGER refuse BEFORE INSERT ON river_job FOR EACH ROW EXECUTE FUNCTION refuse()`)

	return func() { s.execute(`DROP TRIGGER refuse ON river_job`) }
}
