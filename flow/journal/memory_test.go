package journal_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/journaltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestMemoryConforms(t *testing.T) {
	t.Parallel()

	journaltest.Reader(t, func(*testing.T) (journal.Reader[string], journaltest.Append) {
		memory := journal.NewMemory[string](clockwork.NewRealClock())

		return memory, func(ctx context.Context, entries ...string) error {
			_, err := memory.Append(ctx, entries...)

			return err
		}
	})
}

func TestTrimmedMemoryConforms(t *testing.T) {
	t.Parallel()

	journaltest.Trimmed(t, func(*testing.T) (journal.Reader[string], journaltest.Append, journaltest.Trim) {
		memory := journal.NewMemory[string](clockwork.NewRealClock())

		return memory, func(ctx context.Context, entries ...string) error {
				_, err := memory.Append(ctx, entries...)

				return err
			}, func(context.Context) error {
				head, err := memory.Head(context.Background())
				memory.Trim(head)

				return err
			}
	})
}

func TestMemoryTrimsOnlyRequestedEntries(t *testing.T) {
	t.Parallel()

	memory := journal.NewMemory[string](clockwork.NewRealClock())
	_, err := memory.Append(t.Context(), "a", "b", "c")
	require.NoError(t, err)

	memory.Trim(1)
	memory.Trim(0)
	memory.Trim(1)

	var left []string

	for record, err := range memory.Backward(t.Context(), 0) {
		require.NoError(t, err)

		left = append(left, record.Entry)
	}

	require.Equal(t, []string{"c", "b"}, left)

	for record, err := range memory.Backward(t.Context(), 3) {
		require.NoError(t, err)
		require.Equal(t, "b", record.Entry)
	}

	memory.Trim(99)

	position, err := memory.Append(t.Context(), "d")
	require.NoError(t, err)
	require.EqualValues(t, 4, position, "positions go on")
}

func TestAppendReturnsLastPositionAndStampsTime(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	memory := journal.NewMemory[string](clock)

	position, err := memory.Append(t.Context(), "a", "b")
	require.NoError(t, err)
	require.EqualValues(t, 2, position)

	written := clock.Now()

	clock.Advance(time.Hour)

	position, err = memory.Append(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, position, "nothing was appended")

	for record, err := range memory.Backward(t.Context(), 0) {
		require.NoError(t, err)
		require.Equal(t, written, record.At)
	}
}

func TestCancelledCallsChangeNothing(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	memory := journal.NewMemory[string](clockwork.NewRealClock())

	_, err := memory.Append(ctx, "late")
	require.ErrorIs(t, err, context.Canceled)

	_, err = memory.Head(ctx)
	require.ErrorIs(t, err, context.Canceled)

	head, err := memory.Head(t.Context())
	require.NoError(t, err)
	require.Zero(t, head)
}

// Every writer's batches stay together and in their order, whoever else writes.
func TestConcurrentAppendsAreAtomicBatches(t *testing.T) {
	t.Parallel()

	const writers, batches, size = 8, 50, 3

	memory := journal.NewMemory[string](clockwork.NewRealClock())

	var group errgroup.Group
	for writer := range writers {
		group.Go(func() error {
			for batch := range batches {
				name := fmt.Sprintf("%d/%d", writer, batch)

				_, err := memory.Append(t.Context(), name, name, name)
				if err != nil {
					return err
				}
			}

			return nil
		})
	}

	next := map[string]int{}
	seen := 0
	current := ""

	for record, err := range memory.Tail(t.Context(), 0) {
		require.NoError(t, err)

		if seen%size == 0 {
			current = record.Entry

			var writer string

			var batch int

			_, err = fmt.Sscanf(current, "%1s/%d", &writer, &batch)
			require.NoError(t, err)
			require.Equal(t, next[writer], batch)
			next[writer]++
		}

		require.Equal(t, current, record.Entry)

		seen++
		if seen == writers*batches*size {
			break
		}
	}

	require.NoError(t, group.Wait())
}
