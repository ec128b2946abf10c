package postgres_test

import (
	"context"
	"net"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

func TestOpenWaitsForLateDatabase(t *testing.T) {
	t.Parallel()

	address := pgtest.New(t)
	restore := pgtest.Interrupt(t, address)

	var once sync.Once

	db, err := postgres.Open(t.Context(), postgres.Config{URL: address, Migrate: true, Wait: time.Minute, Progress: func(line string) {
		require.Contains(t, line, "Waiting for the database at ")
		require.Contains(t, line, "of 1m0s")
		require.NotContains(t, line, "\n")
		once.Do(restore)
	}})
	require.NoError(t, err)
	db.Stop()
}

func TestOpenFailsWithoutDatabaseAfterWait(t *testing.T) {
	t.Parallel()

	address := pgtest.New(t)
	pgtest.Interrupt(t, address)

	_, err := postgres.Open(t.Context(), postgres.Config{URL: address, Wait: time.Millisecond})
	require.ErrorContains(t, err, "did not become available within 1ms")

	config, parseErr := pgx.ParseConfig(address)
	require.NoError(t, parseErr)
	require.NotContains(t, err.Error(), config.Password)
}

func TestOpenDoesNotWaitForPermanentErrors(t *testing.T) {
	t.Parallel()

	parsed, err := url.Parse(pgtest.New(t))
	require.NoError(t, err)

	wrongPassword, noDatabase := *parsed, *parsed
	wrongPassword.User = url.UserPassword(parsed.User.Username(), "wrong")
	noDatabase.Path = "/no_such_database"

	for name, c := range map[string]struct {
		address, says string
	}{
		"wrong password": {wrongPassword.String(), "28P01"},
		"no database":    {noDatabase.String(), "3D000"},
		"no address":     {"postgres://host:port:port/", "read the database address"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := postgres.Open(t.Context(), postgres.Config{URL: c.address, Wait: time.Hour, Progress: func(line string) { t.Error(line) }})
			require.ErrorContains(t, err, c.says)
		})
	}
}

// A host that accepts connections and never answers behaves like a frozen primary.
func TestFrozenHostInURLIsSkippedAfterConnectTimeout(t *testing.T) {
	t.Parallel()

	frozen, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = frozen.Close() })

	config, err := pgx.ParseConfig(pgtest.New(t))
	require.NoError(t, err)

	_, port, err := net.SplitHostPort(frozen.Addr().String())
	require.NoError(t, err)

	address := url.URL{
		Scheme: "postgres", User: url.UserPassword(config.User, config.Password), Path: "/" + config.Database,
		RawQuery: url.Values{
			"host": {"127.0.0.1," + config.Host}, "port": {strings.Join([]string{port, strconv.Itoa(int(config.Port))}, ",")}, "sslmode": {"disable"},
		}.Encode(),
	}

	ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)
	defer cancel()

	db, err := postgres.Open(ctx, postgres.Config{URL: address.String(), Migrate: true})
	require.NoError(t, err)
	db.Stop()
}

func TestConnectTimeoutInURLIsKept(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]time.Duration{
		"postgres://db/tarsy":                    4 * time.Second,
		"postgres://db/tarsy?connect_timeout=9":  9 * time.Second,
		"postgres://db/tarsy?connect_timeout=0":  0,
		"host=db dbname=tarsy connect_timeout=2": 2 * time.Second,
	} {
		require.Equal(t, want, postgres.ConnectTimeout(t, address), address)
	}
}

// A server that waits for another one to migrate reports it.
func TestMigrationLockWaitIsStartupStep(t *testing.T) {
	t.Parallel()

	address := pgtest.Empty(t)
	holder, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)
	_, err = holder.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, postgres.MigrateLock)
	require.NoError(t, err)

	var steps []string

	db, err := postgres.Open(t.Context(), postgres.Config{URL: address, Migrate: true, Step: func(what string) func() {
		steps = append(steps, what)
		if strings.Contains(what, "migration lock") {
			require.NoError(t, holder.Close(t.Context()), "gives the lock up")
		}

		return func() {}
	}})
	require.NoError(t, err)
	db.Stop()
	require.Contains(t, steps[0], "connecting to the database at ")
	require.Contains(t, steps[1], "waiting for the migration lock")
	require.Contains(t, steps[2], "applying the migration 0001")
	require.Contains(t, steps[len(steps)-1], "job queue")
}
