package pgtest

import (
	"context"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/private"
)

func TestEnvironmentChoosesTheServer(t *testing.T) {
	t.Parallel()
	read := func(variables map[string]string) (environment, error) {
		return readEnvironment(func(name string) string { return variables[name] })
	}
	wanted, err := read(map[string]string{"TARSY_TEST_POSTGRES": "stock", "TARSY_TEST_POSTGRES_MAJOR": "18", "TARSY_PG_BIN": "/opt/bin"})
	require.NoError(t, err)
	require.Equal(t, environment{binDir: "/opt/bin", stock: true, major: 18}, wanted)
	wanted, err = read(nil)
	require.NoError(t, err)
	require.Zero(t, wanted)

	for problem, variables := range map[string]map[string]string{
		`TARSY_TEST_RUN is "../x"`:            {"TARSY_TEST_RUN": "../x"},
		`TARSY_TEST_POSTGRES is "fast"`:       {"TARSY_TEST_POSTGRES": "fast"},
		`TARSY_TEST_POSTGRES_MAJOR is "18.4"`: {"TARSY_TEST_POSTGRES_MAJOR": "18.4"},
		"unset one of them":                   {"TARSY_TEST_POSTGRES": "stock", "TARSY_TEST_DATABASE_URL": "postgres://localhost"},
	} {
		_, err := read(variables)
		require.ErrorContains(t, err, problem)
	}
}

func TestChosenProgramsHaveAServerOfTheirOwn(t *testing.T) {
	t.Parallel()
	found := private.Binaries{Dir: "/usr/lib/postgresql/15/bin", Major: 15}
	require.Equal(t, "test-postgres-15", serverName(found, environment{}))
	require.Equal(t, "test-postgres-15-stock", serverName(found, environment{stock: true}))

	one := serverName(private.Binaries{Dir: "/opt/one/bin", Major: 15}, environment{binDir: "/opt/one/bin"})
	other := serverName(private.Binaries{Dir: "/opt/other/bin", Major: 15}, environment{binDir: "/opt/other/bin"})
	require.NotEqual(t, one, other)
	require.Regexp(t, "^test-postgres-15-[0-9a-f]{8}$", one)
}

func TestServerOfAnotherMajorVersionIsRefused(t *testing.T) {
	t.Parallel()
	major := query[int](t, Server(t), "SELECT current_setting('server_version_num')::int / 10000")
	require.NoError(t, environment{major: major}.checkMajor(t.Context(), Server(t)))
	require.NoError(t, environment{}.checkMajor(t.Context(), Server(t)))
	require.ErrorContains(t, environment{major: major + 1}.checkMajor(t.Context(), Server(t)), "TARSY_PG_BIN")
}

func TestStockServerHasSettingsAndOrderOfOthers(t *testing.T) {
	t.Parallel()
	if os.Getenv("TARSY_TEST_DATABASE_URL") != "" {
		t.Skip("tests with the server at TARSY_TEST_DATABASE_URL start none of their own")
	}
	// Use the directory of the shared servers: this server forces its files to disk, which takes ten seconds on a busy disk.
	require.NoError(t, os.MkdirAll(home(), 0o755))
	dir, err := os.MkdirTemp(home(), "test-stock-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		require.NoError(t, private.Remove(context.Background(), dir))
		require.NoError(t, os.RemoveAll(dir))
	})
	own, err := attachTo(t.Context(), stockServer(dir, os.Getenv("TARSY_PG_BIN")))
	require.NoError(t, err)
	defer func() { require.NoError(t, own.release()) }()

	require.Equal(t, []string{"listen_addresses", "port", "unix_socket_directories"},
		query[[]string](t, own.url, "SELECT array_agg(name::text ORDER BY name) FROM pg_settings WHERE source = 'command line'"))
	for setting, value := range map[string]string{"fsync": "on", "synchronous_commit": "on", "jit": "on", "max_connections": "100"} {
		require.Equal(t, value, query[string](t, own.url, "SHOW "+setting), setting)
	}
	major := query[int](t, own.url, "SELECT current_setting('server_version_num')::int / 10000")
	require.Equal(t, major >= 18, query[bool](t, own.url, "SELECT current_setting('data_checksums') = 'on'"), "checksums are the default from 18 on")

	begun, err := newRun(t.Context(), own.url, schema{hash: "stock", migrate: emptySchema("stock").migrate, icu: true})
	require.NoError(t, err)
	defer func() { require.NoError(t, begun.close()) }()
	clone, err := begun.take(t.Context())
	require.NoError(t, err)
	empty, err := begun.makeEmpty(t.Context())
	require.NoError(t, err)
	for _, database := range []string{clone, empty} {
		byBytes := query[bool](t, begun.url(database), "SELECT 'B' < 'a'")
		require.Equal(t, major < 15 || !hasICU(t, own.url), byBytes, database)
		begun.drops.add(database)
	}
}

func hasICU(t *testing.T, server string) bool {
	t.Helper()
	return query[bool](t, server, "SELECT EXISTS (SELECT FROM pg_collation WHERE collprovider = 'i')")
}

// Concurrent runs are independent: the end of one, however it happens, does not end the server of the other.
func TestRunHasServerOfItsOwnThatOutlivesItsProcesses(t *testing.T) {
	t.Parallel()
	if os.Getenv("TARSY_TEST_DATABASE_URL") != "" {
		t.Skip("tests with the server at TARSY_TEST_DATABASE_URL start none of their own")
	}
	run := strconv.Itoa(os.Getpid()) // a process that is still running
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(serversOf(run))) })
	wanted := environment{binDir: os.Getenv("TARSY_PG_BIN"), run: run}
	first, err := attach(t.Context(), wanted)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, private.Remove(context.Background(), first.dir)) })
	require.NotEqual(t, Server(t), first.url)
	require.NoError(t, first.release())

	second, err := attach(t.Context(), wanted)
	require.NoError(t, err)
	require.Equal(t, query[time.Time](t, first.url, "SELECT pg_postmaster_start_time()"), query[time.Time](t, second.url, "SELECT pg_postmaster_start_time()"),
		"the server was left running")
	require.NoError(t, second.release())
}
