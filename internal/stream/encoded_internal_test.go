package stream

import (
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
)

func TestChunkIsEncodedOnceForAllReaders(t *testing.T) {
	t.Parallel()

	deltas := NewDeltas(DeltasConfig{ServerID: "one", Clock: clockwork.NewFakeClock()})
	t.Cleanup(deltas.Close)

	one, other := deltas.Subscribe("s"), deltas.Subscribe("s")
	deltas.Open("s", Chunk{EventID: "e"}).Append("text")

	first, second := (<-one.Chunks()).frame(), (<-other.Chunks()).frame()
	require.Contains(t, string(first), `"delta":"text"`)
	require.Contains(t, string(first), `"channel":"session:s"`)
	require.Same(t, &first[0], &second[0], "the same bytes, not equal ones")
}

func TestMoreReadersMeanLongerCoalescing(t *testing.T) {
	t.Parallel()

	deltas := NewDeltas(DeltasConfig{ServerID: "one", Clock: clockwork.NewFakeClock(), Buffer: 1})
	t.Cleanup(deltas.Close)

	var readers []*DeltaReader

	for _, step := range []struct {
		readers int
		window  time.Duration
	}{{1, 30 * time.Millisecond}, {100, 30 * time.Millisecond}, {300, 90 * time.Millisecond}, {1000, 250 * time.Millisecond}} {
		for len(readers) < step.readers {
			readers = append(readers, deltas.Subscribe("s"))
		}

		require.Equal(t, step.window, deltas.pace(), "%d readers", step.readers)
	}

	for _, reader := range readers {
		reader.Close()
		reader.Close()
	}

	require.Equal(t, 30*time.Millisecond, deltas.pace())
	require.Empty(t, deltas.sessions, "nothing is kept of readers that left")
}
