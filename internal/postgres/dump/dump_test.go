package dump_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/dump"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestRestoredDatabaseEqualsTheOneBackedUp(t *testing.T) {
	t.Parallel()

	database, restored := filled(t), pgtest.Empty(t)
	before := contents(t, database)

	for _, table := range []string{"sessions", "events", "mcp_interactions", "notes", "entities", "pgjournal_entries", "river_job", "audit_log", "api_keys", "usage_buckets", "session_list"} {
		require.NotEmpty(t, before[table], "the fixture has rows in %s", table)
	}

	file := backup(t, database)
	result := restore(t, restored, file)

	require.Equal(t, before, contents(t, restored))
	require.Equal(t, objects(t, database), objects(t, restored), "triggers and foreign keys are there and on")
	require.Empty(t, result.Others)
	require.Equal(t, "v1.2.3", result.Manifest.TarsyVersion)
	require.Equal(t, before, contents(t, database), "a backup changes nothing")

	info, err := os.Stat(file)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.Equal(t, info.Size(), result.Bytes)

	// The audit log is still append-only, and numbers continue after the last one.
	conn := connect(t, restored)
	_, err = conn.Exec(t.Context(), "DELETE FROM audit_log")
	require.ErrorContains(t, err, "append-only")
	_, err = conn.Exec(t.Context(), "INSERT INTO pgjournal_journals (name) VALUES ('next')")
	require.NoError(t, err)
}

func TestBackupOfRestoredDatabaseHasSameChecksums(t *testing.T) {
	t.Parallel()

	restored := pgtest.Empty(t)
	file := backup(t, filled(t))
	restore(t, restored, file)

	first, err := dump.ReadManifest(file)
	require.NoError(t, err)
	second, err := dump.ReadManifest(backup(t, restored))
	require.NoError(t, err)
	require.Equal(t, first.Tables, second.Tables)
	require.Equal(t, first.Sequences, second.Sequences)
	require.Equal(t, first.Migrations, second.Migrations)
}

// Every transaction of the writers keeps two tables consistent. A backup of two moments would have a note without its entity.
func TestBackupIsOfOneMomentWhileWritersRun(t *testing.T) {
	t.Parallel()

	database := pgtest.New(t)

	for range 3 {
		file, restored := backupWhileWritersRun(t, database), pgtest.Empty(t)
		restore(t, restored, file)

		notes := rows(t, restored, "SELECT id::text FROM notes ORDER BY id")
		require.NotEmpty(t, notes)
		require.Equal(t, notes, rows(t, restored, "SELECT id::text FROM projects ORDER BY id"))
	}
}

// backupWhileWritersRun makes a backup while each of some writers adds a note and its project in one statement after the other.
func backupWhileWritersRun(t *testing.T, database string) (file string) {
	t.Helper()

	ctx, stop := context.WithCancel(t.Context())

	var writers sync.WaitGroup
	defer writers.Wait()
	defer stop()

	written := make(chan struct{}, 1)

	for range 4 {
		conn := connect(t, database)

		writers.Go(func() {
			for ctx.Err() == nil {
				_, err := conn.Exec(ctx, `WITH note AS (INSERT INTO notes (id, content, source, author, created_at, updated_at)
						VALUES (gen_random_uuid(), 'x', 'cli', 'me', now(), now()) RETURNING id)
					INSERT INTO projects (id, name, created_by, created_at, updated_at) SELECT id, id::text, 'me', now(), now() FROM note`)
				if err != nil && ctx.Err() == nil {
					t.Error(err)

					return
				}

				select {
				case written <- struct{}{}:
				default:
				}
			}
		})
	}

	<-written

	return backup(t, database)
}

// The backup waits for the tables, and then finds another schema than it has read before.
func TestBackupDuringMigrationHasTheNewSchema(t *testing.T) {
	t.Parallel()

	database, file := pgtest.New(t), filepath.Join(t.TempDir(), "backup")
	migration := connect(t, database)
	_, err := migration.Exec(t.Context(), "BEGIN; ALTER TABLE notes ADD COLUMN added text NOT NULL DEFAULT 'new'")
	require.NoError(t, err)

	written := make(chan error, 1)

	go func() {
		_, err := dump.Write(context.Background(), dump.Options{URL: database, File: file})
		written <- err
	}()

	wait.Until(t, "the dump to wait for the migration", func() bool {
		return len(rows(t, database, `SELECT mode FROM pg_locks WHERE relation = 'notes'::regclass AND NOT granted AND mode = 'AccessShareLock'`)) > 0
	})

	_, err = migration.Exec(t.Context(), "COMMIT")
	require.NoError(t, err)
	require.NoError(t, <-written)

	manifest, err := dump.ReadManifest(file)
	require.NoError(t, err)
	at := slices.IndexFunc(manifest.Tables, func(table dump.Table) bool { return table.Name == "notes" })
	require.Contains(t, manifest.Tables[at].Columns, "added")
}

func TestTablesOfOthersAreNamedAndNotCopied(t *testing.T) {
	t.Parallel()

	database, restored := pgtest.New(t), pgtest.Empty(t)
	exec(t, database, `CREATE TABLE theirs AS SELECT 1 AS one; CREATE MATERIALIZED VIEW "their view" AS SELECT 1 AS one`)
	exec(t, restored, `CREATE TABLE also_theirs AS SELECT 1 AS one`)

	file := filepath.Join(t.TempDir(), "backup")
	written, err := dump.Write(t.Context(), dump.Options{URL: database, File: file})
	require.NoError(t, err)
	require.Equal(t, []string{"their view", "theirs"}, written.Others)

	result := restore(t, restored, file)
	require.Equal(t, []string{"also_theirs"}, result.Others)
	require.Equal(t, []string{"1"}, rows(t, restored, "SELECT one::text FROM also_theirs"))
}

func TestRestoreIntoDatabaseWithTablesChangesNothing(t *testing.T) {
	t.Parallel()

	file := backup(t, pgtest.New(t))

	// The second one is of a server that has not worked yet.
	for _, target := range []string{filled(t), pgtest.New(t)} {
		before, schema := contents(t, target), objects(t, target)

		require.Contains(t, restoreError(t, target, file), "the database has tables of TARSy already")
		require.Equal(t, before, contents(t, target))
		require.Equal(t, schema, objects(t, target))
	}
}

func TestBackupBeforeLatestMigrationsIsRestoredAndMigrated(t *testing.T) {
	t.Parallel()

	database, restored := pgtest.Empty(t), pgtest.Empty(t)

	all, err := postgres.ReadVersions(t.Context(), connect(t, pgtest.New(t)))
	require.NoError(t, err)

	const auditLog = 32

	earlier := slices.DeleteFunc(slices.Clone(all.Additions), func(version int) bool { return version >= auditLog })
	old := postgres.Versions{Breaking: all.Breaking, Additions: earlier, River: all.River - 2}
	require.NoError(t, postgres.MigrateVersions(t.Context(), database, old))
	addHostileNotes(t, database)
	exec(t, database, "CREATE TABLE theirs (n integer)")
	require.NotContains(t, contents(t, database), "audit_log", "this database is of a release before the audit log")

	result := restore(t, restored, backup(t, database))
	require.Equal(t, old, result.Manifest.Migrations)

	require.NoError(t, postgres.Migrate(t.Context(), database))
	require.Equal(t, contents(t, database)["notes"], contents(t, restored)["notes"])
	require.Equal(t, contents(t, database)["entities"], contents(t, restored)["entities"])

	exec(t, database, "DROP TABLE theirs")
	require.Equal(t, objects(t, pgtest.New(t)), objects(t, restored), "it has the newest schema")

	versions, err := postgres.ReadVersions(t.Context(), connect(t, restored))
	require.NoError(t, err)
	require.Equal(t, all, versions)
}

func TestBackupOfDatabaseWithNewerMigrationsIsRefused(t *testing.T) {
	t.Parallel()

	database, file := pgtest.New(t), filepath.Join(t.TempDir(), "backup")
	exec(t, database, "INSERT INTO schema_additions (version, name) VALUES (9999, '9999_newer.sql')")

	_, err := dump.Write(t.Context(), dump.Options{URL: database, File: file})
	require.ErrorContains(t, err, "the database cannot be backed up with this tarsy: it has schema version 9999")
	require.ErrorContains(t, err, "use a newer tarsy")
	require.NoFileExists(t, file)
}

func TestBackupOfEmptyDatabaseIsRefused(t *testing.T) {
	t.Parallel()

	_, err := dump.Write(t.Context(), dump.Options{URL: pgtest.Empty(t), File: filepath.Join(t.TempDir(), "backup")})
	require.ErrorContains(t, err, "has no tables of TARSy")
}

func TestExistingFileIsReplacedOnlyWithForce(t *testing.T) {
	t.Parallel()

	database, dir := pgtest.New(t), t.TempDir()
	file := filepath.Join(dir, "backup")
	require.NoError(t, os.WriteFile(file, []byte("precious"), 0o600))

	_, err := dump.Write(t.Context(), dump.Options{URL: database, File: file})
	require.ErrorContains(t, err, file+" exists: choose another name, or replace it with --force")

	// A failed backup leaves the existing file as it was, and no other file beside it.
	_, err = dump.Write(t.Context(), dump.Options{URL: pgtest.Empty(t), File: file, Force: true})
	require.Error(t, err)

	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "precious", string(content))

	_, err = dump.Write(t.Context(), dump.Options{URL: database, File: file, Force: true})
	require.NoError(t, err)
	restore(t, pgtest.Empty(t), file)

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// A role that owns its database and is not a superuser, as every managed PostgreSQL provides.
func TestOrdinaryRoleBacksUpAndRestores(t *testing.T) {
	t.Parallel()

	database, restored := ordinary(t), ordinary(t)
	require.NoError(t, postgres.Migrate(t.Context(), database))
	addHostileNotes(t, database)
	restore(t, restored, backup(t, database))
	require.Equal(t, contents(t, database), contents(t, restored))
}

// ordinary returns the URL of an empty database, for a new role that owns it.
func ordinary(t *testing.T) string {
	t.Helper()

	database := pgtest.Empty(t)
	config, err := pgx.ParseConfig(database)
	require.NoError(t, err)

	role := "owner_of_" + config.Database
	exec(t, database, `CREATE ROLE "`+role+`" LOGIN PASSWORD 'secret'; ALTER DATABASE "`+config.Database+`" OWNER TO "`+role+`"; ALTER SCHEMA public OWNER TO "`+role+`"`)
	t.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), database)
		require.NoError(t, err)
		_, err = conn.Exec(context.Background(), `REASSIGN OWNED BY "`+role+`" TO CURRENT_USER; DROP OWNED BY "`+role+`"; DROP ROLE "`+role+`"`)
		require.NoError(t, err)
		require.NoError(t, conn.Close(context.Background()))
	})

	return asRole(t, database, role)
}
