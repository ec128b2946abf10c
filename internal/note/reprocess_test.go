package note_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/notebook"
)

func TestReprocessSinceQueuesFinishedNotesOfPeriod(t *testing.T) {
	s := newServer(t, 5)

	// More than a batch, an old one, and one that is being processed.
	s.execute(`
INSERT INTO notes (id, content, source, author, status, processed, processed_at, created_at, updated_at)
SELECT gen_random_uuid(), 'note ' || i, 'cli', 'ana', CASE WHEN i % 2 = 0 THEN 'done' ELSE 'failed' END, true, $1, $1, $1 FROM generate_series(1, 150) i`, captured)
	s.execute(`
INSERT INTO notes (id, content, source, author, status, created_at, updated_at) VALUES (gen_random_uuid(), 'old', 'cli', 'ana', 'failed', $1, $1)`,
		captured.Add(-2*time.Hour))
	s.add("being processed")
	require.NoError(t, s.queue.Pause(t.Context(), notebook.QueueExtract))

	count, err := s.service.ReprocessSince(t.Context(), captured.Add(-time.Hour), "ben")
	require.NoError(t, err)
	require.Equal(t, 150, count)
	s.start(s.queue)

	number := func(sql string) (n int) {
		require.NoError(t, s.pool.QueryRow(t.Context(), sql).Scan(&n))

		return n
	}
	s.awaitf(func() bool {
		return number(`SELECT count(*) FROM river_job WHERE kind = 'notes_reprocess' AND state = 'completed'`) == 2
	}, "both batches")
	require.Equal(t, 150, number(`SELECT count(*) FROM notes WHERE status = 'queued' AND version = 2 AND NOT processed AND processed_at IS NULL`))
	require.Equal(t, 150, number(`SELECT count(*) FROM river_job WHERE kind = 'notes_extract' AND args->>'version' = '2'`))
	require.Equal(t, 2, number(`SELECT count(*) FROM notes WHERE version = 1`))

	count, err = s.service.ReprocessSince(t.Context(), captured.Add(time.Hour), "ben")
	require.NoError(t, err)
	require.Zero(t, count)
	require.Equal(t, 2, number(`SELECT count(*) FROM river_job WHERE kind = 'notes_reprocess'`), "nothing to do needs no job")
}

func TestReprocessOfMissingNoteIsRefused(t *testing.T) {
	s := newServer(t, 5)

	for _, id := range []string{ident.New(), "x"} {
		_, err := s.service.Reprocess(t.Context(), id, "ben")
		require.Equal(t, tarsy.CodeNoteNotFound, tarsy.CodeOf(err))
	}
}
