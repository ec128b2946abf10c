package private

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/kit/wait"
)

func testSupervisedServerIsStartedAgainAfterItWasKilled(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)
	server.Supervise(func(err error) { t.Error(err) })
	url := server.URL()

	for range 2 {
		killed := server.current().pid
		require.NoError(t, syscall.Kill(killed, syscall.SIGKILL))
		awaitAnswer(t, server, killed)
	}

	require.Equal(t, url, server.URL(), "the server is found where it was")
	stop(t, server)
	require.NoFileExists(t, pidFile(server.place.cluster), "the server that was started last is the one that is stopped")
}

// awaitAnswer waits until a process other than the killed one answers.
func awaitAnswer(t *testing.T, server *Server, killed int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), slowness.Scale(time.Minute))
	defer cancel()
	require.NoError(t, await(ctx, func() (bool, error) {
		if server.current().pid == killed {
			return false, nil
		}
		connection, err := pgx.Connect(ctx, server.URL())
		if err != nil {
			return false, err
		}
		return true, connection.Close(ctx)
	}))
}

func testSupervisedServerThatCannotStartIsGivenUpWithAReason(t *testing.T, dir string) {
	t.Helper()
	server := open(t, dir)
	failed := make(chan error, 1)
	server.supervise(func(err error) { failed <- err }, 2)

	// A cluster without its control file does not start, like one whose disk is full.
	control := filepath.Join(server.place.cluster, "global", "pg_control")
	require.NoError(t, os.Rename(control, control+".away"))
	require.NoError(t, syscall.Kill(server.current().pid, syscall.SIGKILL))

	err := wait.ForWithin(t, slowness.Scale(time.Minute), failed, "the supervisor to give up")
	require.ErrorContains(t, err, "was started 2 times within 15m0s and does not keep running")
	require.ErrorContains(t, err, "pg_control", "the end of the log is shown")

	require.NoError(t, os.Rename(control+".away", control))
	stop(t, server)
	require.False(t, open(t, dir).Adopted())
}
