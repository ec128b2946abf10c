package progress

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
)

// Whatever the order of IDs, an Applier produces the same result as searching for each row.
func TestApplierReplacesKnownRowsAndAppendsNewOnes(t *testing.T) {
	t.Parallel()

	random := rand.New(rand.NewPCG(1, 2))

	for range 200 {
		var (
			applier Applier
			state   State
			want    []tarsy.Message
			places  = map[string]int{}
		)

		for number := range 40 {
			var step Step

			for range random.IntN(4) {
				message := tarsy.Message{ID: fmt.Sprintf("%02d", random.IntN(30)), SequenceNumber: number}
				step.Messages = append(step.Messages, message)

				place, exists := places[message.ID]
				if !exists {
					place = len(want)
					places[message.ID], want = place, append(want, message)
				}

				want[place] = message
			}

			applier.Apply(&state, step)
			require.Equal(t, want, state.Messages)
		}
	}
}

// Searching used a third of the server's CPU time for a session with ten thousand calls.
func TestApplierDoesNotLookForNewRowsOfLongSession(t *testing.T) {
	t.Parallel()

	const rows = 10_000

	var (
		all   []string
		about known
		reads int
	)

	for number := range rows {
		all = put(all, []string{fmt.Sprintf("%05d", number)}, &about, func(id *string) string {
			reads++

			return *id
		})
	}

	require.Len(t, all, rows)
	require.Less(t, reads, 2*rows)
}
