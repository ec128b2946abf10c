package e2e

import (
	"context"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// A hangup during startup is a request to reload the configuration, even at the earliest moment: before the command is known.
func TestHangupDuringStartDoesNotEndServer(t *testing.T) {
	t.Parallel()

	hangup := make(chan os.Signal, 1)
	hangup <- syscall.SIGHUP

	log := newTranscript(t)
	arguments := []string{"serve", "--config-dir", t.TempDir(), "--listen", "127.0.0.1:0", "--database-url", pgtest.New(t)}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)

	go func() {
		ended <- cli.Run(ctx, cli.Process{
			Name: "tarsy", Args: arguments,
			Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: log, Hangup: hangup,
		})
	}()

	log.WaitLine("TARSy listens on")
	log.WaitLine("configuration reloaded")
	stop()
	require.Equal(t, cli.ExitOK, <-ended, log.String())
}
