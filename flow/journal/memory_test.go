package journal_test

import (
	"context"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/journaltest"
)

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

func TestMemoryKeepsContractOfJournals(t *testing.T) {
	t.Parallel()

	journaltest.Journal(t, func(_ *testing.T, clock clockwork.Clock) journal.Journal[string] {
		return journal.NewMemory[string](clock)
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
