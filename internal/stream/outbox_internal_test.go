package stream

import (
	"sync/atomic"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
)

// written is an outlet that records the text.
type written struct{ text string }

func (w *written) event(string, journal.Record[tarsy.Event]) error { return nil }

func (w *written) overflow(string, journal.Position) error { return nil }

func (w *written) chunk(chunk *Encoded) error {
	w.text += chunk.Delta

	return nil
}

func TestWriterIsWokenOnceForWaitingText(t *testing.T) {
	t.Parallel()

	deltas := NewDeltas(DeltasConfig{ServerID: "one", Clock: clockwork.NewRealClock()})
	t.Cleanup(deltas.Close)

	out, box := &written{}, newOutbox()
	s := &subscription{chunks: deltas.Subscribe("s"), out: out, outbox: box, gate: newGate(new(atomic.Int64)), held: make(chan struct{}, 1)}
	s.gate.learn(map[string]bool{"e": false})

	write := func(fence int64, text string) {
		delta := deltas.Open("s", Chunk{EventID: "e", Fence: fence})
		delta.Append(text)
		delta.Close()
	}

	drain := func() {
		require.Len(t, box.wake, 1, "the writer is woken")
		<-box.wake
		require.NoError(t, box.drain())
	}

	write(1, "before it is run, ")
	require.Empty(t, box.ready)
	s.chunks.Notify(s.announce)
	write(2, "then ")
	write(3, "more")
	require.Equal(t, []*subscription{s}, box.ready, "listed once")
	drain()
	require.Equal(t, "before it is run, then more", out.text)
	require.Empty(t, box.ready)

	write(4, ", again")
	drain()
	require.Equal(t, "before it is run, then more, again", out.text)

	write(5, "after it ended")
	s.ended.Store(true)
	drain()
	require.Equal(t, "before it is run, then more, again", out.text)
}
