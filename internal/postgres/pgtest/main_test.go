package pgtest

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// These variables turn this test binary into a helper process, which is another test process that can be killed. The first names
// a directory to attach to, the second a server to create a database on.
const (
	attachVariable = "TARSY_PGTEST_ATTACH"
	cloneVariable  = "TARSY_PGTEST_CLONE"
)

func TestMain(m *testing.M) {
	switch {
	case os.Getenv(attachVariable) != "":
		os.Exit(helperMain(helperAttach))
	case os.Getenv(cloneVariable) != "":
		os.Exit(helperMain(helperClone))
	default:
		goleak.VerifyTestMain(Wrap(m))
	}
}

func helperMain(act func() (string, func() error, error)) int {
	said, end, err := act()
	if err != nil {
		fmt.Println("error:", err)
		return 1
	}
	fmt.Println(said)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := end(); err != nil {
		return 1
	}
	return 0
}

func helperAttach() (string, func() error, error) {
	server, err := attachTo(context.Background(), fastServer(os.Getenv(attachVariable), ""))
	if err != nil {
		return "", nil, err
	}
	return "attached", server.release, nil
}

func helperClone() (string, func() error, error) {
	begun, err := newRun(context.Background(), os.Getenv(cloneVariable), emptySchema("helper"))
	if err != nil {
		return "", nil, err
	}
	database, err := begun.take(context.Background())
	return database, func() error {
		begun.drops.add(database)
		return begun.close()
	}, err
}

type helper struct {
	command *exec.Cmd
	stdin   io.Closer
	output  *bufio.Reader
}

func startHelper(t *testing.T, variable, value string) *helper {
	t.Helper()
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), variable+"="+value)
	stdin, err := command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	started := &helper{command: command, stdin: stdin, output: bufio.NewReader(output)}
	t.Cleanup(started.kill)
	return started
}

func (h *helper) line(t *testing.T) string {
	t.Helper()
	line, err := h.output.ReadString('\n')
	require.NoError(t, err)
	return strings.TrimSpace(line)
}

// end lets the helper finish normally.
func (h *helper) end(t *testing.T) {
	t.Helper()
	require.NoError(t, h.stdin.Close())
	require.NoError(t, h.command.Wait())
}

// kill is kill -9: nothing is cleaned up.
func (h *helper) kill() {
	_ = h.command.Process.Kill()
	_ = h.command.Wait()
}

func emptySchema(hash string) schema {
	return schema{hash: hash, migrate: func(context.Context, string) error { return nil }}
}

func query[T any](t *testing.T, url, sql string, arguments ...any) T {
	t.Helper()
	connection, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = connection.Close(context.Background()) }()
	var value T
	require.NoError(t, connection.QueryRow(t.Context(), sql, arguments...).Scan(&value))
	return value
}

func databaseExists(t *testing.T, server, name string) bool {
	t.Helper()
	return query[bool](t, server, "SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)", name)
}
