package postgres

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
	"github.com/riverqueue/river/rivermigrate"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrateLock is the advisory lock that lets ten servers start at once and one of them migrate.
const migrateLock = 0x7461727379_01

// riverVersion is River's schema that this program needs: the newest that its version of River knows.
const riverVersion = 8

type migration struct {
	version int
	name    string
	sql     string
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

		all = append(all, migration{version: version, name: base, sql: string(text)})
	}

	return all
}

// riverMigrations is River's own way to its schema. It has no pool: it works in transactions that it is given.
func riverMigrations() *rivermigrate.Migrator[pgx.Tx] {
	migrator, err := rivermigrate.New(riverpgxv5.New(nil), &rivermigrate.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		panic("postgres: " + err.Error())
	}

	return migrator
}

// MigrationsHash names the schema, River's included: test templates are keyed by it.
func MigrationsHash() string {
	h := sha256.New()

	for _, m := range migrations() {
		fmt.Fprintf(h, "%s\n%s\n", m.name, m.sql)
	}

	for _, m := range riverMigrations().AllVersions() {
		if m.Version <= riverVersion {
			fmt.Fprintf(h, "river %d\n%s\n", m.Version, m.SQLUp)
		}
	}

	return hex.EncodeToString(h.Sum(nil))[:16]
}

// versions is where a database stands.
type versions struct{ schema, river int }

// Migrate brings the database at url to the newest schema, and River's tables to the version that this program needs.
// Any number of servers may call it at once. A database that is newer than this program is refused.
func Migrate(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was left undone on this connection

	all := migrations()
	newest := newestVersions()

	// The happy path of a restart takes no lock.
	if current, err := currentVersions(ctx, conn); err == nil && current == newest {
		return nil
	}

	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrateLock)); err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	// Closing the connection releases the lock.

	current, err := prepareMigration(ctx, conn)
	if err != nil {
		return err
	}

	if current.schema > newest.schema {
		return fmt.Errorf("the database has schema version %d and this tarsy knows up to %d: use a newer tarsy", current.schema, newest.schema)
	}

	if current.river > newest.river {
		return fmt.Errorf("the database has version %d of River's schema and this tarsy knows up to %d: use a newer tarsy", current.river, newest.river)
	}

	for _, m := range all {
		if m.version <= current.schema {
			continue
		}

		if err := applyMigration(ctx, conn, m); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}

	if current.river < newest.river {
		return migrateRiver(ctx, conn, current.river)
	}

	return nil
}

func newestVersions() versions {
	all := migrations()

	return versions{schema: all[len(all)-1].version, river: riverVersion}
}

// prepare reaches the database and, where that is wanted, brings it up to date. One that is up to date, as at every
// restart, costs the one query that also shows that it answers.
func (c Config) prepare(ctx context.Context, pool *pgxpool.Pool) error {
	conn, err := pool.Acquire(ctx)
	if err != nil {
		return fmt.Errorf("reach the database: %w", err)
	}

	current, err := currentVersions(ctx, conn.Conn())
	conn.Release()

	if c.Migrate && (err != nil || current != newestVersions()) {
		if err := Migrate(ctx, c.URL); err != nil {
			return fmt.Errorf("bring the database up to date: %w", err)
		}
	}

	return nil
}

// prepareMigration makes sure that migrations can be written down, and reads where the database stands: under the lock,
// so that nobody else moves it.
func prepareMigration(ctx context.Context, conn *pgx.Conn) (versions, error) {
	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version integer PRIMARY KEY, name text NOT NULL)`); err != nil {
		return versions{}, fmt.Errorf("create the table of migrations: %w", err)
	}

	// River makes its table of migrations itself, by its first one.
	var river bool
	if err := conn.QueryRow(ctx, "SELECT to_regclass('river_migration') IS NOT NULL").Scan(&river); err != nil {
		return versions{}, fmt.Errorf("look for River's tables: %w", err)
	}

	var (
		current versions
		err     error
	)

	if river {
		current, err = currentVersions(ctx, conn)
	} else {
		err = conn.QueryRow(ctx, schemaVersionSQL).Scan(&current.schema)
	}

	if err != nil {
		return versions{}, fmt.Errorf("read the schema version: %w", err)
	}

	return current, nil
}

func applyMigration(ctx context.Context, conn *pgx.Conn, m migration) error {
	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, m.sql); err != nil {
			return err
		}

		_, err := tx.Exec(ctx, "INSERT INTO schema_migrations (version, name) VALUES ($1, $2)", m.version, m.name)

		return err
	})
}

// migrateRiver applies River's migrations after a version, each in a transaction of its own: one adds a value to an
// enum that a later one uses. River writes them down itself.
func migrateRiver(ctx context.Context, conn *pgx.Conn, after int) error {
	migrator := riverMigrations()

	for version := after + 1; version <= riverVersion; version++ {
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

const (
	schemaVersionSQL   = `SELECT coalesce(max(version), 0) FROM schema_migrations`
	currentVersionsSQL = `SELECT (` + schemaVersionSQL + `), (SELECT coalesce(max(version), 0) FROM river_migration)`
)

// currentVersions asks once. It fails where a table is missing.
func currentVersions(ctx context.Context, conn *pgx.Conn) (versions, error) {
	var v versions
	err := conn.QueryRow(ctx, currentVersionsSQL).Scan(&v.schema, &v.river)

	return v, err
}
