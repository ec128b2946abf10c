package app

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/agent"
	"tarsy.dev/tarsy/internal/config"
	"tarsy.dev/tarsy/internal/kit/wait"
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

func TestStopWithoutTimeKillsMCPProcesses(t *testing.T) {
	t.Parallel()

	started := filepath.Join(t.TempDir(), "started")
	cfg := load(t, "mcp_servers: {deaf: {transport: {type: stdio, command: sh, args: [-c, 'trap \"\" TERM; echo > "+started+"; exec sleep 600']}}}")
	a := newApp(Options{Config: cfg})

	masker, err := a.options.masker()
	require.NoError(t, err)
	a.settings.Store(&settings{masker: masker})

	opened := make(chan agent.Tools, 1)

	go func() {
		tools, err := a.mcpFactory(a.options).Open(t.Context(), "execution", []tarsy.MCPServerSelection{{Name: "deaf"}}, nil)
		assert.NoError(t, err)

		opened <- tools
	}()

	wait.Until(t, "the process to start", func() bool { _, err := os.Stat(started); return err == nil })

	a.onStop("hangs", func(ctx context.Context) error { <-ctx.Done(); return nil })

	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()

	require.NoError(t, a.Stop(ctx))

	tools := wait.For(t, opened, "the end of the process")
	require.Contains(t, tools.Unavailable()["deaf"], "signal: killed", "it got neither 30 s to respond nor time to exit")
	require.NoError(t, tools.Close())
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
