package engine

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSetbacksCountUntilSessionMakesProgress(t *testing.T) {
	t.Parallel()

	var s setbacks

	s.loaded(10, true)
	require.Zero(t, s.pause(), "the first failure is followed by an attempt at once")

	for range maxUnstorable - 2 {
		s.loaded(10, true)
	}

	require.False(t, s.exhausted())
	require.Equal(t, 200*time.Millisecond, s.pause())

	s.loaded(11, true)
	require.False(t, s.exhausted(), "progress starts the count again")
	require.Zero(t, s.pause())

	for range maxUnstorable - 1 {
		s.loaded(11, true)
	}

	require.True(t, s.exhausted())
}

func TestSetbacksDuringDatabaseOutageNeverExhaust(t *testing.T) {
	t.Parallel()

	var s setbacks

	for range 100 {
		s.notLoaded()
		s.loaded(1, false)
	}

	require.False(t, s.exhausted())
	require.Equal(t, 5*time.Second, s.pause())
}
