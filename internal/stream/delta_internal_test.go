package stream

import (
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
)

func TestUnreadTextStartsNoTimer(t *testing.T) {
	t.Parallel()

	d := NewDeltas(DeltasConfig{Clock: clockwork.NewRealClock()})
	defer d.Close()

	s := d.Open("s", Chunk{EventID: "e"})
	for range 1000 {
		s.Append("x")
		require.Nil(t, s.timer)
		require.True(t, s.flushed.IsZero())
	}

	s.Close()
	require.Empty(t, d.sessions, "nothing is kept")
}
