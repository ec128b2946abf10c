package cli_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/postgres/private"
)

// privateDatabase returns flags with which doctor finds nothing wrong with PostgreSQL: a server would create a private database.
func privateDatabase(t *testing.T) []string {
	t.Helper()

	flags := []string{"--listen", "127.0.0.1:0", "--data-dir", t.TempDir()}
	if programs := os.Getenv("TARSY_PG_BIN"); programs != "" {
		flags = append(flags, "--pg-bin", programs)
	}

	return flags
}

// doctorArgs returns the arguments of such a doctor.
func doctorArgs(t *testing.T, more ...string) []string {
	t.Helper()

	return slices.Concat([]string{"doctor"}, privateDatabase(t), more)
}

// doctorOf runs doctor against a database.
func doctorOf(t *testing.T, database string, more ...string) result {
	t.Helper()

	return tarsyWith(t, nil, "", append([]string{"doctor", "--listen", "127.0.0.1:0", "--database-url", database, "--config-dir", writeConfig(t, serverConfig)}, more...)...)
}

func TestDoctorInspectsConfiguredDatabase(t *testing.T) {
	t.Parallel()

	// Other tests use servers without durability, which doctor would report. t.TempDir is not accessible to the user
	// that runs PostgreSQL for root.
	dir, err := os.MkdirTemp("", "tarsy-doctor-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		require.NoError(t, private.Remove(context.WithoutCancel(t.Context()), dir))
		require.NoError(t, os.RemoveAll(dir))
	})

	server, err := private.Open(t.Context(), private.Config{Dir: dir, BinDir: os.Getenv("TARSY_PG_BIN")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })

	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, conn.Close(context.WithoutCancel(t.Context()))) })

	exec := func(sql string) {
		_, err := conn.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}

	got := doctorOf(t, server.URL())
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Regexp(t, `(?m)^ok    PostgreSQL: \d+\.\d+ at /\S+, database tarsy, schema public, UTF8, C\S*; 197 connections, enough for 6 servers$`, got.stdout)
	require.NotContains(t, got.stdout, "warn  PostgreSQL")
	require.Contains(t, got.stdout, "ok    data directory: not needed")

	address, err := url.Parse(server.URL())
	require.NoError(t, err)

	password, _ := address.User.Password()

	// One name that clears the screen, and one that closes the quotes.
	hostile := "evil\x1b[2J\n\"; DROP DATABASE tarsy; --\u202e"
	exec("CREATE DATABASE " + pgx.Identifier{hostile}.Sanitize())
	exec("ALTER DATABASE " + pgx.Identifier{hostile}.Sanitize() + " SET default_transaction_read_only = on")

	address.Path = "/" + hostile

	for _, more := range [][]string{nil, {"-o", "json"}} {
		got = doctorOf(t, address.String(), more...)
		require.Equal(t, cli.ExitFailed, got.code)

		text := got.stdout + got.stderr
		require.NotContains(t, text, "\x1b")
		require.NotContains(t, text, "\u202e")
		require.NotContains(t, text, password)
		require.Contains(t, text, "RESET default_transaction_read_only")
	}

	got = doctorOf(t, address.String())
	require.Contains(t, got.stdout, `fail  PostgreSQL default_transaction_read_only: is on (database "evil ""; DROP DATABASE tarsy; --")`)
	require.Contains(t, got.stdout, `      → ALTER DATABASE "evil ""; DROP DATABASE tarsy; --" RESET default_transaction_read_only;`+"\n")

	exec("ALTER ROLE tarsy SET statement_timeout = '3s'")

	got = doctorOf(t, server.URL())
	require.Equal(t, cli.ExitOK, got.code, "TARSy overrides it")
	require.Regexp(t, `ok    PostgreSQL session settings: .*statement_timeout is 3s for role tarsy`, got.stdout)
}

func TestDoctorReportsUnreachableDatabaseWithoutPassword(t *testing.T) {
	t.Parallel()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())

	host := listener.Addr().String()

	for address, found := range map[string]string{
		"postgres://ana:hunter2@" + host + "/tarsy":             `fail  PostgreSQL: postgres://` + host + `/tarsy \(credentials hidden\): .*connection refused\n\s+→ check host and port`,
		"postgres://" + host + "/tarsy?password=hunter2":        `fail  PostgreSQL: postgres://` + host + `/tarsy \(credentials hidden\): .*connection refused`,
		"postgres://" + host + "/hunter2@db.example/tarsy":      `fail  PostgreSQL: \S+: .*connection refused`,
		"postgres://ana:hunter2":                                `fail  PostgreSQL: .*is not a PostgreSQL address.*\n\s+→ correct --database-url`,
		"host=127.0.0.1 port=1 password=hunter2 dbname=tarsy":   `fail  PostgreSQL: \S+: .*connection refused`,
		"postgres://ana:hunter2@" + host + "/t%1b[2Jarsy%0aabc": `fail  PostgreSQL: postgres://` + host + `/tarsy abc \(credentials hidden\)`,
	} {
		got := doctorOf(t, address)
		require.Equal(t, cli.ExitFailed, got.code, address)
		require.Regexp(t, found, got.stdout)
		require.NotContains(t, got.stdout+got.stderr, "hunter2")
		require.NotContains(t, got.stdout+got.stderr, "\x1b")
	}
}

// A check that hangs must say what it is waiting for.
func TestDoctorReportsWaitingForSilentDatabase(t *testing.T) {
	t.Parallel()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })

	ctx, cancel := context.WithCancel(t.Context())
	stdout, stderr := newBuffer(), newBuffer()
	ended := make(chan int)

	go func() {
		ended <- cli.Run(ctx, cli.Process{
			Name: "tarsy", Args: []string{"doctor", "--listen", "127.0.0.1:0", "--database-url", "postgres://ana:hunter2@" + listener.Addr().String() + "/tarsy", "--config-dir", writeConfig(t, serverConfig)},
			Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Executable: os.Args[0],
		})
	}()

	text := stderr.wait(t, "waiting for PostgreSQL at postgres://"+listener.Addr().String()+"/tarsy (credentials hidden)…")
	require.NotContains(t, text, "hunter2")
	cancel()
	require.NotEqual(t, cli.ExitOK, <-ended)
}

func TestDoctorLooksForProgramsThatReadPrivateDatabase(t *testing.T) {
	t.Parallel()

	programs, err := private.Find(os.Getenv("TARSY_PG_BIN"))
	require.NoError(t, err)

	doctor := func(dir string) result {
		return tarsyWith(t, nil, "", "doctor", "--listen", "127.0.0.1:0", "--data-dir", dir, "--pg-bin", programs.Dir, "--config-dir", writeConfig(t, serverConfig))
	}
	cluster := func(root string, major int) {
		require.NoError(t, os.MkdirAll(filepath.Join(root, "postgres"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(root, "postgres", "PG_VERSION"), fmt.Appendln(nil, major), 0o600))
	}

	dir := t.TempDir()
	got := doctor(dir)
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "ok    PostgreSQL: PostgreSQL "+programs.Version+" in "+programs.Dir)

	cluster(dir, programs.Major)

	got = doctor(dir)
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, ", for the database in "+dir+"/postgres\n")

	cluster(dir, 9)

	got = doctor(dir)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stdout, "fail  PostgreSQL: the database in "+dir+"/postgres is of PostgreSQL 9, and there is only PostgreSQL "+programs.Version)
	require.Contains(t, got.stdout, "→ install PostgreSQL 9, or move the data to another version: tarsy database upgrade\n")

	// The record names the location of a database that is elsewhere.
	elsewhere := t.TempDir()
	cluster(elsewhere, programs.Major)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "postgres.json"), fmt.Appendf(nil, `{"root": %q, "locale": "C.UTF-8"}`, elsewhere), 0o600))

	got = doctor(dir)
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, ", for the database in "+elsewhere+"/postgres\n")
}
