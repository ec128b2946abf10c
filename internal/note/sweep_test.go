package note_test

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/notebook"
)

func TestNoteIsKeptWithoutJobAndQueuedLater(t *testing.T) {
	s := newServer(t, 5)
	s.extractionAnswers()

	repair := s.breakQueue()
	n := s.add("Check the disk.")
	require.NotEmpty(t, n.ProcessingError)
	require.Equal(t, n, s.stored(n.ID))
	require.Empty(t, s.jobs())
	require.Equal(t, n.ProcessingError, s.events(1)[0].Error)

	_, err := s.sweeper.Sweep(t.Context())
	require.ErrorContains(t, err, "no space left")
	require.Equal(t, n, s.stored(n.ID))

	repair()

	swept, err := s.sweeper.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	require.Equal(t, []string{"notes_extract available 0/5"}, s.jobs())
	require.Empty(t, s.note(n.ID).ProcessingError)
	require.Equal(t, []string{notebook.TypeNoteRequeued}, eventTypes(s.events(1)))

	swept, err = s.sweeper.Sweep(t.Context())
	require.NoError(t, err)
	require.Zero(t, swept)

	s.start(s.queue)
	s.await(n.ID, notebook.NoteDone)
}

func TestConcurrentSweepsQueueNoteOnce(t *testing.T) {
	s := newServer(t, 5)
	s.capture("Check the disk.")
	s.capture("Check the other disk.")

	var running sync.WaitGroup
	for range 4 {
		running.Go(func() {
			if _, err := s.sweeper.Sweep(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}

	running.Wait()
	require.Len(t, s.jobs(), 2)
}

// A River leader of an earlier release does not know the job and discards it if its server dies.
func TestDiscardedJobIsQueuedAgain(t *testing.T) {
	s := newServer(t, 5)
	n := s.add("Check the disk.")
	s.execute(`UPDATE river_job SET state = 'discarded', attempt = 1, finalized_at = now()`)

	swept, err := s.sweeper.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	require.Equal(t, []string{"notes_extract discarded 1/5", "notes_extract available 0/5"}, s.jobs())

	// The same applies to the second step.
	s.execute(`UPDATE river_job SET state = 'completed', finalized_at = now() WHERE state = 'available'`)
	s.execute(`UPDATE notes SET status = 'extracted', processed = true, processed_at = updated_at WHERE id = $1`, n.ID)

	swept, err = s.sweeper.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	require.Equal(t, "entities_organize available 0/5", s.jobs()[2])
}

// A note that crashes its server with each attempt is not retried forever.
func TestNoteWhoseAttemptsAreUsedUpFails(t *testing.T) {
	s := newServer(t, 5)
	n := s.add("Check the disk.")
	s.execute(`UPDATE river_job SET state = 'discarded', attempt = 5, finalized_at = now()`)

	swept, err := s.sweeper.Sweep(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, swept)
	require.Contains(t, s.await(n.ID, notebook.NoteFailed).ProcessingError, "its server stopped")
	require.Len(t, s.jobs(), 1)
}
