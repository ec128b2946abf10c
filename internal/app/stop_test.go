package app

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/config"
)

func TestStopGivesUpPartsThatDoNotEndAndUndoesTheOthers(t *testing.T) {
	t.Parallel()

	var undone []string

	release := make(chan struct{})
	a := newApp(Options{Config: load(t, "")})
	a.onStop("first", func(context.Context) error { undone = append(undone, "first"); return nil })
	a.onStop("hangs", func(context.Context) error { <-release; return nil })
	a.onStop("last", func(context.Context) error { undone = append(undone, "last"); return nil })
	t.Cleanup(func() { close(release) })

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()

	err := a.Stop(ctx)
	require.ErrorIs(t, err, errStopTime)
	require.ErrorContains(t, err, "stop hangs")
	require.NotContains(t, err.Error(), "first")
	require.Equal(t, []string{"last", "first"}, undone)
	require.Equal(t, err, a.Stop(t.Context()), "a second stop reports the same")
}

func TestPartsOfStopFitIntoItsTime(t *testing.T) {
	t.Parallel()

	for _, timeout := range []time.Duration{0, time.Millisecond, time.Second, 3 * time.Second, 15 * time.Second, time.Hour} {
		queue := config.Queue{GracefulShutdownTimeout: timeout}
		whole, tools, rest := StopTime(queue), toolGrace(queue), releaseTime(queue)

		require.Equal(t, max(timeout, time.Second), whole)
		require.LessOrEqual(t, tools+rest, whole, timeout)
		require.LessOrEqual(t, tools, timeout)
		require.GreaterOrEqual(t, rest, time.Second/3, timeout)
		require.LessOrEqual(t, rest, 5*time.Second, timeout)
	}

	require.Equal(t, 10*time.Second, toolGrace(config.Queue{GracefulShutdownTimeout: 15 * time.Second}), "the default")
}
