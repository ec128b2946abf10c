package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// beforeAdditions is how many migrations the releases had that record all of theirs in schema_migrations. The last of those
// releases compares the newest of them with its own.
const beforeAdditions = 8

// versionsOf returns the migrations that a database records.
func versionsOf(t *testing.T, address string) (migrations, additions []int) {
	t.Helper()

	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	require.NoError(t, conn.QueryRow(t.Context(), `SELECT ARRAY (SELECT version FROM schema_migrations ORDER BY version),
    ARRAY (SELECT version FROM schema_additions ORDER BY version)`).Scan(&migrations, &additions))

	return migrations, additions
}

func TestAdditiveMigrationsAreSeparateFromBreakingOnes(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	files := map[int]string{
		9001: `CREATE TABLE added (id uuid PRIMARY KEY)`,
		9002: "-- breaking: everybody must know it\nCREATE TABLE broken (id uuid PRIMARY KEY)",
		9003: `ALTER TABLE added ADD COLUMN name text NOT NULL DEFAULT ''`,
	}

	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files))
	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files), "again is no error")

	migrations, additions := versionsOf(t, address)
	require.Equal(t, []int{1, 2, 3, 4, 5, 6, 7, 8, 9002}, migrations)
	require.Equal(t, []int{9001, 9003}, additions)
}

// The previous release can start with this release's migrations: none of them is breaking.
func TestPreviousReleaseFindsSchemaItKnows(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	require.NoError(t, postgres.Migrate(t.Context(), address))

	migrations, additions := versionsOf(t, address)
	require.Equal(t, beforeAdditions, slices.Max(migrations))
	require.Len(t, additions, postgres.Migrations()-beforeAdditions)
}

// The release before additions has migrated to its newest version, and has no table of additions.
func TestDatabaseOfPreviousReleaseIsUpgraded(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, nil))

	conn, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	defer conn.Close(context.Background())

	_, err = conn.Exec(t.Context(), `DROP TABLE schema_additions`)
	require.NoError(t, err)

	files := map[int]string{9001: `CREATE TABLE added (id uuid PRIMARY KEY)`}
	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files))

	migrations, additions := versionsOf(t, address)
	require.Equal(t, beforeAdditions, slices.Max(migrations))
	require.Equal(t, []int{9001}, additions)
}

// Two branches of development each add a file; the lower number may be merged second.
func TestAdditionWithLowerNumberIsAppliedLate(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	files := map[int]string{9002: `CREATE TABLE second (id uuid PRIMARY KEY)`}
	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files))

	files[9001] = `CREATE TABLE first (id uuid PRIMARY KEY)`
	require.NoError(t, postgres.MigrateAs(t.Context(), address, beforeAdditions, files))

	_, additions := versionsOf(t, address)
	require.Equal(t, []int{9001, 9002}, additions)
}

// A newer release has migrated while a server of this release runs, which then restarts.
func TestAdditionsOfNewerReleaseAreAccepted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	running := f.Server(t)
	f.runFullLifecycle(t, running)

	newer, err := running.NewerSchema(t.Context())
	require.NoError(t, err)
	require.False(t, newer)

	require.NoError(t, postgres.MigrateAs(t.Context(), f.URL, postgres.Migrations(), map[int]string{
		9999: `ALTER TABLE sessions ADD COLUMN newer text NOT NULL DEFAULT ''; ALTER TABLE stages ADD COLUMN newer text NOT NULL DEFAULT ''`,
	}))
	f.runFullLifecycle(t, running)

	newer, err = running.NewerSchema(t.Context())
	require.NoError(t, err)
	require.True(t, newer)

	// A restart does not wait for the lock of migrations.
	conn, err := f.Admin.Acquire(t.Context())
	require.NoError(t, err)

	defer conn.Release()

	_, err = conn.Exec(t.Context(), `SELECT pg_advisory_lock($1)`, postgres.MigrateLock)
	require.NoError(t, err)

	var log bytes.Buffer

	ctx, cancel := context.WithTimeout(t.Context(), storetest.Patience)
	defer cancel()

	restarted, err := postgres.Open(ctx, postgres.Config{
		URL: f.URL, Migrate: true, Clock: f.Clock, Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	restarted.Start()
	t.Cleanup(restarted.Stop)

	require.Contains(t, log.String(), "the database has additions of a newer tarsy")
	require.Contains(t, log.String(), "[9999]")
	f.runFullLifecycle(t, restarted)

	_, err = conn.Exec(t.Context(), `SELECT pg_advisory_unlock($1)`, postgres.MigrateLock)
	require.NoError(t, err)
}

func TestBreakingMigrationOfNewerReleaseIsRefused(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	require.NoError(t, postgres.MigrateAs(t.Context(), f.URL, postgres.Migrations(), map[int]string{
		9999: "-- breaking: the journal moved\nALTER TABLE events RENAME TO journal",
	}))

	_, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Migrate: true})
	require.ErrorContains(t, err, "schema version 9999, which this tarsy does not know and cannot work with")
	require.ErrorContains(t, err, "use a newer tarsy")
}

func TestOnlySomeErrorsProveStepUnstorable(t *testing.T) {
	t.Parallel()

	for _, test := range []struct {
		code               string
		unstorable, schema bool
	}{
		{"22001", true, true},   // text too long
		{"22003", true, true},   // number out of range
		{"22021", true, true},   // character not in the encoding
		{"22P02", true, true},   // invalid uuid or JSON
		{"22P05", true, true},   // \u0000 in jsonb
		{"23514", true, true},   // CHECK
		{"54000", true, true},   // a limit of the program
		{"54001", true, true},   // nested too deeply
		{"23000", false, true},  // any constraint, perhaps a trigger's
		{"23001", false, true},  // RESTRICT
		{"23502", false, true},  // a column of another release requires a value
		{"23503", false, true},  // the referenced row is gone
		{"23505", false, true},  // duplicate
		{"23P01", false, true},  // EXCLUDE
		{"42703", false, true},  // no such column
		{"42P01", false, true},  // no such table
		{"42501", false, true},  // not allowed
		{"0A000", false, true},  // a cached plan that no longer fits
		{"25006", false, false}, // a standby
		{"40001", false, false}, // serialization failure
		{"40P01", false, false}, // deadlock
		{"53100", false, false}, // disk full
		{"53300", false, false}, // too many connections
		{"55P03", false, false}, // locked
		{"57014", false, false}, // statement timeout
		{"57P01", false, false}, // shut down
		{"58030", false, false}, // I/O
		{"XX000", false, false},
	} {
		require.Equal(t, test.unstorable, postgres.UnstorableState(test.code), test.code)
		require.Equal(t, test.schema, postgres.SchemaRefusedState(test.code), test.code)
	}

	require.False(t, postgres.Unstorable(errors.New("connection lost")))
	require.False(t, postgres.SchemaRefused(errors.New("connection lost")))
}

func TestDeferredSessionWaitsForItsTimeOrRequest(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	claim := f.Hold(t, db)
	require.NoError(t, db.Defer(t.Context(), claim.Lease, f.Clock.Now().Add(storetest.Lease)))
	require.Empty(t, f.Claim(t, db, storetest.ServerB, 1))

	f.Clock.Advance(storetest.Lease)
	claims := f.Claim(t, db, storetest.ServerB, 1)
	require.Len(t, claims, 1)

	require.NoError(t, db.Defer(t.Context(), claims[0].Lease, f.Clock.Now().Add(storetest.Lease)))
	ok, err := db.AddCancel(t.Context(), storetest.NewRequest(claim.SessionID, "cancel", f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)
	require.Len(t, f.Claim(t, db, storetest.ServerB, 1), 1, "whoever requests something does not wait")
}

// A server that locks tables in another order than a migration waits for it while it waits for the server.
func TestMigrationGivesWayToServers(t *testing.T) {
	t.Parallel()

	address := emptyDatabase(t)
	require.NoError(t, postgres.Migrate(t.Context(), address))

	server, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	defer server.Close(context.Background())

	exec := func(sql string) {
		t.Helper()

		_, err := server.Exec(t.Context(), sql)
		require.NoError(t, err)
	}

	exec(`CREATE TABLE first (n integer); CREATE TABLE second (n integer)`)
	exec(`BEGIN; INSERT INTO second VALUES (1)`)

	migrated := make(chan error, 1)

	go func() {
		migrated <- postgres.MigrateAs(context.Background(), address, postgres.Migrations(), map[int]string{
			9000: "LOCK TABLE first IN ACCESS EXCLUSIVE MODE; LOCK TABLE second IN ACCESS EXCLUSIVE MODE",
		})
	}()

	watcher, err := pgx.Connect(t.Context(), address)
	require.NoError(t, err)

	defer watcher.Close(context.Background())

	wait.Until(t, "the migration to wait for the second table", func() bool {
		var waits bool

		err := watcher.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_locks WHERE relation = 'second'::regclass AND NOT granted)`).Scan(&waits)
		require.NoError(t, err)

		return waits
	})

	exec(`INSERT INTO first VALUES (1)`)
	exec(`COMMIT`)
	require.NoError(t, <-migrated)
}
