package postgres

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrateLock is the advisory lock that lets ten servers start at once and one of them migrate.
const migrateLock = 0x7461727379_01

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

// MigrationsHash names the schema: test templates are keyed by it.
func MigrationsHash() string {
	h := sha256.New()

	for _, m := range migrations() {
		fmt.Fprintf(h, "%s\n%s\n", m.name, m.sql)
	}

	return hex.EncodeToString(h.Sum(nil))[:16]
}

// Migrate brings the database at url to the newest schema. Any number of servers may call it at once. A database
// that is newer than this program is refused.
func Migrate(ctx context.Context, url string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx)) //nolint:errcheck // nothing was left undone on this connection

	all := migrations()
	newest := all[len(all)-1].version

	// The happy path of a restart takes no lock.
	if current, err := schemaVersion(ctx, conn); err == nil && current == newest {
		return nil
	}

	if _, err := conn.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrateLock)); err != nil {
		return fmt.Errorf("wait for the migration lock: %w", err)
	}
	// Closing the connection releases the lock.

	if _, err := conn.Exec(ctx, `CREATE TABLE IF NOT EXISTS schema_migrations (
		version integer PRIMARY KEY, name text NOT NULL)`); err != nil {
		return fmt.Errorf("create the table of migrations: %w", err)
	}

	current, err := schemaVersion(ctx, conn)
	if err != nil {
		return fmt.Errorf("read the schema version: %w", err)
	}

	if current > newest {
		return fmt.Errorf("the database has schema version %d and this tarsy knows up to %d: use a newer tarsy", current, newest)
	}

	for _, m := range all {
		if m.version <= current {
			continue
		}

		if err := applyMigration(ctx, conn, m); err != nil {
			return fmt.Errorf("migration %s: %w", m.name, err)
		}
	}

	return nil
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

func schemaVersion(ctx context.Context, conn *pgx.Conn) (int, error) {
	var version int
	err := conn.QueryRow(ctx, "SELECT coalesce(max(version), 0) FROM schema_migrations").Scan(&version)

	return version, err
}
