package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// leftServer creates the directory of a run, with a process in place of a server.
func leftServer(t *testing.T, home, run string) (server *exec.Cmd) {
	t.Helper()

	server = exec.Command("sleep", "600")
	require.NoError(t, server.Start())

	ended := make(chan struct{})
	t.Cleanup(func() {
		_ = server.Process.Kill()
		<-ended
	})

	go func() { // reap the process once it is signalled
		defer close(ended)

		_ = server.Wait()
	}()

	data := filepath.Join(home, runDirectory+run, "test-postgres-15", "postgres")
	require.NoError(t, os.MkdirAll(data, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(data, "postmaster.pid"), fmt.Appendf(nil, "%d\n%s\n", server.Process.Pid, data), 0o600))

	return server
}

func TestServersOfRunEndWithIt(t *testing.T) {
	t.Parallel()

	home := t.TempDir()
	server, other := leftServer(t, home, "1234"), leftServer(t, home, "5678")

	require.NoError(t, removeServers([]string{filepath.Join(home, "none"), home}, "1234"))
	require.NoDirExists(t, filepath.Join(home, "run-1234"))
	require.DirExists(t, filepath.Join(home, "run-5678"))
	require.ErrorIs(t, syscall.Kill(server.Process.Pid, 0), syscall.ESRCH, "the server has ended")
	require.NoError(t, syscall.Kill(other.Process.Pid, 0), "that of another run has not")
}

func TestServersOfKilledRunsAreRemoved(t *testing.T) {
	t.Parallel()

	ended := exec.Command("true")
	require.NoError(t, ended.Run())

	home := t.TempDir()
	leftServer(t, home, strconv.Itoa(ended.Process.Pid))
	leftServer(t, home, strconv.Itoa(os.Getpid()))

	require.NoError(t, removeAbandonedServers([]string{home}))
	require.NoDirExists(t, filepath.Join(home, runDirectory+strconv.Itoa(ended.Process.Pid)))
	require.DirExists(t, filepath.Join(home, runDirectory+strconv.Itoa(os.Getpid())), "a run that goes on keeps its own")
}
