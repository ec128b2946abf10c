package private

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// helperVariable has the Config of a helper process: this test binary, started again as a tarsy that can be killed.
const helperVariable = "TARSY_PRIVATE_TEST_HELPER"

func TestMain(m *testing.M) {
	if encoded := os.Getenv(helperVariable); encoded != "" {
		os.Exit(runHelper(encoded))
	}
	goleak.VerifyTestMain(m)
}

// helperConfig is what a helper opens or, if StopAt is set, upgrades until that step.
type helperConfig struct{ Dir, BinDir, OldBinDir, StopAt string }

// runHelper opens the server, prints a line, and waits for its end.
func runHelper(encoded string) int {
	var config helperConfig
	if err := json.Unmarshal([]byte(encoded), &config); err != nil {
		fmt.Println(err)
		return 1
	}
	if config.StopAt != "" {
		return helpUpgrade(config)
	}
	_, err := Open(context.Background(), Config{Dir: config.Dir, BinDir: config.BinDir, Settings: fastSettings()})
	if err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	return 0
}

type helper struct {
	command *exec.Cmd
	output  *bufio.Reader
}

func startHelper(t *testing.T, config helperConfig) *helper {
	t.Helper()
	encoded, err := json.Marshal(config)
	require.NoError(t, err)
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), helperVariable+"="+string(encoded))
	_, err = command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	started := &helper{command: command, output: bufio.NewReader(output)}
	t.Cleanup(started.kill)
	return started
}

func (h *helper) line(t *testing.T) string {
	t.Helper()
	line, err := h.output.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// kill is kill -9: no deferred function of the helper runs.
func (h *helper) kill() {
	_ = h.command.Process.Kill()
	_ = h.command.Wait()
}

func fastSettings() map[string]string {
	return map[string]string{"fsync": "off", "shared_buffers": "16MB", "max_connections": "20"}
}

// testDir returns a data directory that the server's user can reach, whoever runs the test; any server left in it at the end is stopped.
func testDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "tarsy-private-")
	require.NoError(t, err)
	if os.Geteuid() == 0 {
		require.NoError(t, os.Chmod(dir, 0o755))
	}
	cleanUp(t, dir)
	return dir
}

func cleanUp(t *testing.T, dir string) {
	t.Helper()
	t.Cleanup(func() {
		require.NoError(t, Remove(context.Background(), dir))
		require.NoError(t, os.RemoveAll(dir))
	})
}

// open opens a server that is stopped at the end of the test.
func open(t *testing.T, dir string) *Server {
	t.Helper()
	server, err := Open(t.Context(), Config{Dir: dir, Settings: fastSettings()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.Background())) })
	return server
}

func stop(t *testing.T, server *Server) {
	t.Helper()
	require.NoError(t, server.Stop(t.Context()))
}

func openError(t *testing.T, cfg Config) string {
	t.Helper()
	server, err := Open(t.Context(), cfg)
	if err == nil {
		_ = server.Stop(context.Background())
	}
	require.Error(t, err)
	return err.Error()
}

func execSQL(t *testing.T, server *Server, database, sql string) {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), server.url(database))
	require.NoError(t, err)
	defer func() { _ = connection.Close(context.Background()) }()
	_, err = connection.Exec(t.Context(), sql)
	require.NoError(t, err)
}

func queryText(t *testing.T, url, sql string) string {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = connection.Close(context.Background()) }()
	var text string
	require.NoError(t, connection.QueryRow(t.Context(), sql).Scan(&text))
	return text
}

// realBinaries skips the test if there is no PostgreSQL to test with.
func realBinaries(t *testing.T) Binaries {
	t.Helper()
	found, err := Find("")
	if err != nil {
		t.Skipf("needs PostgreSQL server binaries: %v", err)
	}
	// As in pgtest: a run of the tests on several versions must not test the same one several times.
	if major := os.Getenv("TARSY_TEST_POSTGRES_MAJOR"); major != "" {
		require.Equal(t, major, strconv.Itoa(found.Major), "%s is not the version that TARSY_TEST_POSTGRES_MAJOR asks for", found)
	}
	return found
}

// wrappedBinaries returns a directory whose postgres is the real one and whose initdb is a script.
func wrappedBinaries(t *testing.T, script string) string {
	t.Helper()
	found := realBinaries(t)
	dir, err := os.MkdirTemp("", "tarsy-bin-")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.Symlink(found.program("postgres"), filepath.Join(dir, "postgres")))
	content := "#!/bin/sh\nreal=" + found.program("initdb") + "\n" + script
	require.NoError(t, os.WriteFile(filepath.Join(dir, "initdb"), []byte(content), 0o755))
	return dir
}
