package postgres_test

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/private"
)

// openServer runs a server that no other test uses.
func openServer(t *testing.T, dir string, settings map[string]string) *private.Server {
	t.Helper()

	server, err := private.Open(t.Context(), private.Config{Dir: dir, BinDir: os.Getenv("TARSY_PG_BIN"), Settings: settings})
	require.NoError(t, err)

	return server
}

// Conditions of a whole server are tested on a dedicated one: as created, with dangerous settings, and as a standby.
func TestServerOfItsOwnIsInspected(t *testing.T) {
	t.Parallel()

	// As root, the user that the server runs as cannot enter t.TempDir.
	dir, err := os.MkdirTemp("", "tarsy-inspect-")
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755))
	t.Cleanup(func() {
		require.NoError(t, private.Remove(context.WithoutCancel(t.Context()), dir))
		require.NoError(t, os.RemoveAll(dir))
	})

	server := openServer(t, dir, map[string]string{"jit": "on"})
	all, err := postgres.Inspect(t.Context(), server.URL())
	require.NoError(t, err)
	require.Regexp(t, `^\d+\.\d+ at /\S+, database tarsy, schema public, UTF8, C\S*; 197 connections, enough for 6 servers$`, all[0].Found)

	for _, seen := range all {
		require.Equal(t, postgres.LevelOK, seen.Level, "defaults are fine: %v", seen)
	}

	require.NoError(t, server.Stop(t.Context()))

	server = openServer(t, dir, map[string]string{
		"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off", "autovacuum": "off", "track_counts": "off", "password_encryption": "md5", "max_connections": "40",
		"statement_timeout": "9s",
	})
	all, err = postgres.Inspect(t.Context(), server.URL())
	require.NoError(t, err)

	for check, level := range map[string]postgres.Level{
		"fsync": postgres.LevelFail, "full_page_writes": postgres.LevelFail, "synchronous_commit": postgres.LevelWarn, "autovacuum": postgres.LevelWarn,
		"track_counts": postgres.LevelWarn, "password_encryption": postgres.LevelWarn, "connections": postgres.LevelWarn, "session settings": postgres.LevelOK,
	} {
		require.Equal(t, level, observed(all, check).Level, check)
	}

	require.Equal(t, "start PostgreSQL with -c fsync=on", observed(all, "fsync").Advice)
	require.Contains(t, observed(all, "session settings").Found, "statement_timeout is 9s for the server")

	// The private server keeps its cluster in one of two places.
	signal := filepath.Join(clusterOf(t, server), "standby.signal")
	require.NoError(t, server.Stop(t.Context()))
	require.NoError(t, os.WriteFile(signal, nil, 0o600))

	// PostgreSQL writes the file to disk, so it must belong to PostgreSQL's user.
	cluster, err := os.Stat(filepath.Dir(signal))
	require.NoError(t, err)

	owner := cluster.Sys().(*syscall.Stat_t)
	require.NoError(t, os.Chown(signal, int(owner.Uid), int(owner.Gid)))

	server = openServer(t, dir, nil)
	t.Cleanup(func() { require.NoError(t, server.Stop(context.WithoutCancel(t.Context()))) })

	all, err = postgres.Inspect(t.Context(), server.URL())
	require.NoError(t, err)
	require.Equal(t, postgres.LevelFail, observed(all, "standby").Level, all)
}

func clusterOf(t *testing.T, server *private.Server) string {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)

	defer func() { require.NoError(t, conn.Close(context.Background())) }()

	var directory string
	require.NoError(t, conn.QueryRow(t.Context(), "SHOW data_directory").Scan(&directory))

	return directory
}

func TestUnreachableDatabaseIsReportedWithoutPassword(t *testing.T) {
	t.Parallel()

	s := newSite(t, pgtest.Empty(t))

	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())

	refusing := closed.Addr().String()
	other := func(change func(*url.URL)) string {
		address, err := url.Parse(s.url)
		require.NoError(t, err)
		change(address)

		return address.String()
	}

	for name, c := range map[string]struct{ url, found, advice string }{
		"nobody listens": {"postgres://ana:hunter2@" + refusing + "/tarsy", "connection refused", "check host and port"},
		// The password has a slash, so its end is parsed as the name of the database.
		"mistyped password":  {"postgres://127.0.0.1:1/hunter2@db.example/tarsy", "connection refused", "check host and port"},
		"password parameter": {"host=127.0.0.1 port=1 user=ana password=hunter2 dbname=tarsy", "connection refused", "check host and port"},
		"wrong password":     {other(func(u *url.URL) { u.User = url.UserPassword(s.role, "hunter2-wrong") }), "password authentication failed", "check the user and the password"},
		"no database":        {other(func(u *url.URL) { u.Path = "/nowhere" }), `"nowhere" does not exist`, "create the database"},
	} {
		all, err := postgres.Inspect(t.Context(), c.url)
		require.NoError(t, err, name)
		require.Len(t, all, 1, name)
		require.Equal(t, postgres.LevelFail, all[0].Level, name)
		require.Contains(t, all[0].Found, c.found, name)
		require.Contains(t, all[0].Advice, c.advice, name)
		require.NotContains(t, fmt.Sprint(all), "hunter2", name)
	}

	_, err = postgres.Inspect(t.Context(), "postgres://ana:hunter2")
	require.ErrorContains(t, err, "is not a PostgreSQL address")
	require.NotContains(t, err.Error(), "hunter2")

	s.exec("ALTER DATABASE DATABASE1 OWNER TO CURRENT_USER", "REVOKE CONNECT ON DATABASE DATABASE1 FROM PUBLIC")

	all, err := postgres.Inspect(t.Context(), s.url)
	require.NoError(t, err)
	require.Contains(t, all[0].Found, "permission denied for database")
	require.Contains(t, all[0].Advice, "CONNECT")
}

// One server never answers, and one falls silent after the login.
func TestInspectionOfSilentServerEnds(t *testing.T) {
	t.Parallel()

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })

	proxy, direct := newProxy(t, newFixture(t))
	// The three messages of the login pass.
	proxy.vanishAfter(3)

	for name, address := range map[string]string{
		"never": "postgres://ana:hunter2@" + listener.Addr().String() + "/tarsy?connect_timeout=0", "after the login": direct,
	} {
		began := time.Now()
		all, err := postgres.InspectWithin(t.Context(), address, 500*time.Millisecond)
		require.NoError(t, err, name)
		require.Equal(t, []postgres.Observation{{
			Level: postgres.LevelFail, Found: "the server did not respond in time", Advice: "check host and port of the address, that PostgreSQL runs there, and that this machine can reach it",
		}}, all, name)
		// The driver would keep reading from the connection for another 15 seconds.
		require.Less(t, time.Since(began), slowness.Scale(10*time.Second), name)
	}

	canceled, cancel := context.WithCancel(t.Context())
	cancel()

	_, err = postgres.Inspect(canceled, direct)
	require.ErrorIs(t, err, context.Canceled)
}

// Users who may create databases and roles choose their names. They are printed quoted, and the advice can be used as it is.
func TestInspectionQuotesHostileNames(t *testing.T) {
	t.Parallel()

	s := newSite(t, pgtest.Empty(t))
	schema := "a\"; DROP SCHEMA public; --\n\x1b[2J"
	quoted := pgx.Identifier{schema}.Sanitize()

	s.exec("CREATE SCHEMA "+quoted, "GRANT USAGE ON SCHEMA "+quoted+" TO ROLE1", "ALTER ROLE ROLE1 SET search_path = "+quoted)

	all, err := postgres.Inspect(t.Context(), s.url)
	require.NoError(t, err)
	require.Contains(t, all[0].Found, "schema "+quoted)

	remedy := observed(all, "schema").Advice
	require.True(t, strings.HasPrefix(remedy, "GRANT CREATE ON SCHEMA "+quoted+" TO "), remedy)
	s.exec(remedy)

	all, err = postgres.Inspect(t.Context(), s.url)
	require.NoError(t, err)
	require.Zero(t, observed(all, "schema"), "the remedy helps")
}

func TestPoolerThatSharesBackendsIsInspectedOnly(t *testing.T) {
	t.Parallel()

	f := newFixture(t)

	for _, mode := range []string{"transaction", "statement"} {
		all, err := postgres.Inspect(t.Context(), f.bouncer(t, mode))
		require.NoError(t, err)
		require.Len(t, all, 2, mode)
		require.Equal(t, postgres.LevelFail, observed(all, "pooler").Level, mode)
	}
}
