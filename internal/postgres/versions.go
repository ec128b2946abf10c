package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// versions is what a database has of migrations: ours that a server must know, ours that it need not know, and River's.
type versions struct {
	breaking  []int
	additions []int
	river     int
}

const (
	schemaVersionsSQL = `ARRAY (SELECT version FROM schema_migrations ORDER BY version), ARRAY (SELECT version FROM schema_additions ORDER BY version)`
	versionsSQL       = `SELECT ` + schemaVersionsSQL + `, (SELECT coalesce(max(version), 0) FROM river_migration)`
)

// currentVersions asks once. It fails where a table is missing.
func currentVersions(ctx context.Context, conn *pgx.Conn) (versions, error) {
	var v versions
	err := conn.QueryRow(ctx, versionsSQL).Scan(&v.breaking, &v.additions, &v.river)

	return v, err
}

// of returns those of one kind.
func (v versions) of(breaking bool) []int {
	if breaking {
		return v.breaking
	}

	return v.additions
}

// missing returns the known migrations that are yet to be applied.
func (v versions) missing(known []migration) []migration {
	return slices.DeleteFunc(slices.Clone(known), func(m migration) bool { return slices.Contains(v.of(m.breaking), m.version) })
}

// unknown returns the versions that only a newer program knows.
func (v versions) unknown(known []migration) (breaking, additions []int) {
	return unknown(v.breaking, known, true), unknown(v.additions, known, false)
}

func unknown(applied []int, known []migration, breaking bool) []int {
	return slices.DeleteFunc(slices.Clone(applied), func(version int) bool {
		return slices.ContainsFunc(known, func(m migration) bool { return m.version == version && m.breaking == breaking })
	})
}

// check refuses a database that a newer program has changed in a way that this one cannot work with.
func (v versions) check(known []migration) error {
	if breaking, _ := v.unknown(known); len(breaking) > 0 {
		return fmt.Errorf("the database has schema version %d, which this tarsy does not know and cannot work with (it knows up to %d): use a newer tarsy",
			slices.Max(breaking), known[len(known)-1].version)
	}

	if v.river > riverVersion {
		return fmt.Errorf("the database has version %d of River's schema and this tarsy knows up to %d: use a newer tarsy", v.river, riverVersion)
	}

	return nil
}

// upToDate reports whether nothing is left to apply, and nothing to refuse.
func (v versions) upToDate(known []migration) bool {
	return v.check(known) == nil && len(v.missing(known)) == 0 && v.river == riverVersion
}

// NewerSchema reports whether the database has migrations of ours that only a newer program knows.
func (db *DB) NewerSchema(ctx context.Context) (bool, error) {
	var current versions

	err := db.work.AcquireFunc(ctx, func(conn *pgxpool.Conn) (err error) {
		current, err = currentVersions(ctx, conn.Conn())

		return err
	})
	if err != nil {
		return false, fmt.Errorf("read the schema version: %w", err)
	}

	breaking, additions := current.unknown(migrations())

	return len(breaking)+len(additions) > 0, nil
}

// SchemaRefused reports whether err says that the database's schema forbids a step, rather than that the database is in
// trouble: the data is wrong, or the schema is not the one that this program knows.
func SchemaRefused(err error) bool {
	code := stateOf(err)

	return isCleanError(err) && slices.ContainsFunc([]string{"0A", "22", "23", "42", "54"}, func(class string) bool { return strings.HasPrefix(code, class) })
}
