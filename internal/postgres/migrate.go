package postgres

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"

	"tarsy.dev/tarsy/flow/journal/pgjournal"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrateLock is the advisory lock that lets ten servers start at the same time and one of them migrate.
const migrateLock = 0x7461727379_01

// riverVersion is the version of River's schema that this program needs: the newest known to its version of River.
const riverVersion = 8

// firstAddition is the first migration that can be an addition. Earlier releases recorded all of theirs in schema_migrations.
const firstAddition = 9

// breakingMark begins the file of a migration that servers of earlier releases cannot work with.
const breakingMark = "-- breaking:"

// migration is one file. Most are additions: tables, indexes, columns with defaults. Servers that do not know an addition keep
// working beside those that do, so it is recorded in schema_additions. A breaking one is recorded in schema_migrations, and a
// server that does not know it does not start.
type migration struct {
	version  int
	name     string
	sql      string
	breaking bool
}

// migrations returns the embedded migrations in order.
func migrations() []migration {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		panic("postgres: " + err.Error())
	}

	slices.Sort(names)

	all := make([]migration, 0, len(names))

	for _, name := range names {
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			panic("postgres: " + err.Error())
		}

		base := strings.TrimPrefix(name, "migrations/")

		version, err := strconv.Atoi(base[:4])
		if err != nil {
			panic("postgres: migration " + base + " does not begin with four digits")
		}

		all = append(all, newMigration(version, base, string(text)))
	}

	return all
}

func newMigration(version int, name, sql string) migration {
	return migration{version: version, name: name, sql: sql, breaking: version < firstAddition || strings.HasPrefix(sql, breakingMark)}
}

// sum is a checksum of the file, which must not change once it has been applied.
func (m migration) sum() string {
	const digits = 16

	sum := sha256.Sum256([]byte(m.sql))

	return hex.EncodeToString(sum[:])[:digits]
}

// riverMigrations returns River's own migrator. It has no pool: it works in transactions that it is given.
func riverMigrations() *rivermigrate.Migrator[pgx.Tx] {
	migrator, err := rivermigrate.New(riverpgxv5.New(nil), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic("postgres: " + err.Error())
	}

	return migrator
}

// MigrationsHash identifies the schema, including River's and the journal's: test templates are keyed by it.
func MigrationsHash() string {
	h := sha256.New()
	fmt.Fprintln(h, versionTablesSQL, pinFunctionsSQL)

	for _, m := range migrations() {
		fmt.Fprintf(h, "%s\n%s\n", m.name, m.sql)
	}

	fmt.Fprintln(h, pgjournal.Schema())

	for _, m := range riverMigrations().AllVersions() {
		if m.Version <= riverVersion {
			fmt.Fprintf(h, "river %d\n%s\n", m.Version, m.SQLUp)
		}
	}

	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Migrate brings the database at url to the newest schema, and River's tables to the version that this program needs. Several
// servers may call it concurrently. It refuses a database with a breaking migration that this program does not know, but not one
// with unknown additions.
func Migrate(ctx context.Context, url string) error { return migrate(ctx, url, migrations(), noStep) }

// MigrateVersions brings the database at url to exactly these migrations, to restore the data of a database that has no others.
func MigrateVersions(ctx context.Context, url string, target Versions) error {
	if err := target.Check(); err != nil {
		return err
	}

	return migrateUpTo(ctx, url, target.applied(migrations()), target.River, noStep)
}

// noStep is a Config.Step that does nothing.
func noStep(string) func() { return func() {} }

func migrate(ctx context.Context, url string, known []migration, step func(string) func()) error {
	return migrateUpTo(ctx, url, known, riverVersion, step)
}

func migrateUpTo(ctx context.Context, url string, known []migration, river int, step func(string) func()) error {
	conn, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was left undone on this connection

	// A restart that has nothing to migrate takes no lock.
	if current, err := currentVersions(ctx, conn); err == nil && current.upToDate(known) {
		return nil
	}

	if err := checkPlace(ctx, conn); err != nil {
		return err
	}

	done := step("waiting for the migration lock, which another server may hold")
	_, err = conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrateLock))

	done()

	if err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	// Closing the connection releases the lock.

	current, err := prepareMigration(ctx, conn)
	if err != nil {
		return err
	}

	if err := current.check(known); err != nil {
		return err
	}

	// The migration of notes needs the journal's tables, which are created with it.
	missing := current.missing(known)
	if len(missing) > 0 {
		if err := pgjournal.Migrate(ctx, conn); err != nil {
			return err
		}
	}

	for _, m := range missing {
		done := step("applying the migration " + m.name)
		err := applyMigration(ctx, conn, m)

		done()

		if err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}

	if current.River < river {
		defer step("applying the migrations of the job queue")()

		return migrateRiver(ctx, conn, current.River, river)
	}

	return nil
}

// prepare connects to the database and, if Config.Migrate is set, migrates it. A database that is up to date, as at every
// restart, costs two queries.
func (c Config) prepare(ctx context.Context, pool *pgxpool.Pool) error {
	done := c.Step("connecting to the database at " + hosts(pool))
	conn, err := pool.Acquire(ctx)

	done()

	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}

	asking, cancel := context.WithTimeout(ctx, AnswerTime)
	defer cancel()

	if err := checkPooler(asking, pool, conn); err != nil {
		conn.Release()

		return fmt.Errorf("reach the database: %w", err)
	}

	known := migrations()
	current, err := currentVersions(asking, conn.Conn())
	conn.Release()

	if IsUnavailable(err) {
		return fmt.Errorf("read the version of the schema: %w", err)
	}

	if c.Migrate && (err != nil || !current.upToDate(known)) {
		if err := migrate(ctx, c.URL, known, c.Step); err != nil {
			return fmt.Errorf("bring the database up to date: %w", err)
		}
	}

	if _, additions := current.unknown(known); len(additions) > 0 {
		c.Logger.Info("the database has additions of a newer tarsy; ignoring them", "versions", additions)
	}

	return nil
}

const versionTablesSQL = `
CREATE TABLE IF NOT EXISTS schema_migrations (version integer PRIMARY KEY, name text NOT NULL);
CREATE TABLE IF NOT EXISTS schema_additions (version integer PRIMARY KEY, name text NOT NULL)`

// prepareMigration creates the tables that record migrations, and reads the current versions. The caller holds the lock, so that
// no other server changes them.
func prepareMigration(ctx context.Context, conn *pgx.Conn) (Versions, error) {
	if _, err := conn.Exec(ctx, versionTablesSQL); err != nil {
		return Versions{}, fmt.Errorf("create the tables of migrations: %w", err)
	}

	// River's first migration creates its table of migrations.
	var river bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('river_migration') IS NOT NULL").Scan(&river); err != nil {
		return Versions{}, fmt.Errorf("look for River's tables: %w", err)
	}

	var (
		current Versions
		err     error
	)

	if river {
		current, err = currentVersions(ctx, conn)
	} else {
		var names []string

		err = conn.QueryRow(ctx, "SELECT "+schemaVersionsSQL).Scan(&current.Breaking, &current.Additions, &names)
		current.sums = readSums(names)
	}

	if err != nil {
		return Versions{}, fmt.Errorf("read the schema version: %w", err)
	}

	return current, nil
}

// How long a migration waits for each of its locks, longer after some attempts: readers may hold theirs for a while.
const (
	firstLockWait = 200 * time.Millisecond
	lastLockWait  = 5 * time.Second
	// lockPause lets servers proceed that waited for the locks of the migration.
	lockPause = 50 * time.Millisecond
)

// applyMigration applies one migration. Servers of the previous release lock the same tables in orders that no migration can
// follow: a step locks sessions and then events, a repeated insert of sessions the reverse. So the migration gives up and
// retries, before PostgreSQL detects a deadlock and ends the statement of a server.
func applyMigration(ctx context.Context, conn *pgx.Conn, m migration) error {
	for wait := firstLockWait; ; wait = min(wait+wait/10, lastLockWait) {
		err := tryMigration(ctx, conn, m, wait)
		if !isLockFailure(err) {
			return err
		}

		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for the locks of other servers: %w", context.Cause(ctx))
		case <-time.After(lockPause):
		}
	}
}

// isLockFailure reports whether a lock could not be acquired in time.
func isLockFailure(err error) bool {
	const notAvailable, deadlock = "55P03", "40P01"

	failed, ok := errors.AsType[*pgconn.PgError](err)

	return ok && (failed.Code == notAvailable || failed.Code == deadlock)
}

func tryMigration(ctx context.Context, conn *pgx.Conn, m migration, lockWait time.Duration) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "SELECT set_config('lock_timeout', $1, true)", strconv.FormatInt(lockWait.Milliseconds(), 10)); err != nil {
			return err
		}

		if _, err := tx.Exec(ctx, m.sql); err != nil {
			return err
		}

		if err := pinFunctions(ctx, tx); err != nil {
			return err
		}

		record := "INSERT INTO schema_additions (version, name) VALUES ($1, $2)"
		if m.breaking {
			record = "INSERT INTO schema_migrations (version, name) VALUES ($1, $2)"
		}

		_, err := tx.Exec(ctx, record, m.version, m.name+" "+m.sum())

		return err
	})
}

// migrateRiver applies River's migrations after a version up to another, each in its own transaction: one adds a value to an enum
// that a later one uses. River records them itself.
func migrateRiver(ctx context.Context, conn *pgx.Conn, after, through int) error {
	migrator := riverMigrations()

	for version := after + 1; version <= through; version++ {
		err := pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
			//nolint:staticcheck // deprecated for several migrations in one transaction; this is one, on the connection with the lock
			_, err := migrator.MigrateTx(ctx, tx, rivermigrate.DirectionUp, &rivermigrate.MigrateOpts{TargetVersion: version})

			return err
		})
		if err != nil {
			return fmt.Errorf("migration %d of River: %w", version, err)
		}
	}

	return nil
}
