package postgres

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Versions are the migrations that a database has: ours that a server must know, ours that it need not know, and River's version.
type Versions struct {
	Breaking  []int `json:"breaking"`
	Additions []int `json:"additions"`
	River     int   `json:"river"`
	// sums are the checksums of ours as they were applied, if they were recorded.
	sums map[int]string
}

const (
	schemaVersionsSQL = `ARRAY (SELECT version FROM schema_migrations ORDER BY version), ARRAY (SELECT version FROM schema_additions ORDER BY version),
		ARRAY (SELECT version || ' ' || name FROM schema_migrations UNION ALL SELECT version || ' ' || name FROM schema_additions)`
	versionsSQL = `SELECT ` + schemaVersionsSQL + `, (SELECT coalesce(max(version), 0) FROM river_migration)`
)

// ReadVersions reads which migrations a database has, in the transaction of the connection if there is one.
func ReadVersions(ctx context.Context, conn *pgx.Conn) (Versions, error) {
	v, err := currentVersions(ctx, conn)
	if err != nil {
		return v, fmt.Errorf("read the schema version: %w", err)
	}

	v.sums = nil // two databases with the same migrations are equal

	return v, nil
}

// Check reports migrations that this program does not know. It is for programs that need to know all tables and columns, unlike a
// server, which ignores the additions of a newer one.
func (v Versions) Check() error {
	known := migrations()
	if breaking, additions := v.unknown(known); len(breaking)+len(additions) > 0 {
		return fmt.Errorf("it has schema version %d, and this tarsy knows up to %d: use a newer tarsy",
			slices.Max(append(breaking, additions...)), known[len(known)-1].version)
	}

	return v.check(known)
}

// applied returns the known migrations that the database has.
func (v Versions) applied(known []migration) []migration {
	return slices.DeleteFunc(slices.Clone(known), func(m migration) bool { return !slices.Contains(v.of(m.breaking), m.version) })
}

// currentVersions reads the versions in one query. It fails if a table is missing.
func currentVersions(ctx context.Context, conn *pgx.Conn) (Versions, error) {
	var (
		v     Versions
		names []string
	)

	err := conn.QueryRow(ctx, versionsSQL).Scan(&v.Breaking, &v.Additions, &names, &v.River)
	v.sums = readSums(names)

	return v, err
}

// readSums reads the checksums of rows such as "20 0020_notes.sql 1f0c…". Rows of earlier releases have none.
func readSums(names []string) map[int]string {
	sums := map[int]string{}

	for _, name := range names {
		var (
			version   int
			file, sum string
		)

		if n, _ := fmt.Sscan(name, &version, &file, &sum); n == 3 {
			sums[version] = sum
		}
	}

	return sums
}

// of returns the versions of one kind.
func (v Versions) of(breaking bool) []int {
	if breaking {
		return v.Breaking
	}

	return v.Additions
}

// missing returns the known migrations that have not been applied.
func (v Versions) missing(known []migration) []migration {
	return slices.DeleteFunc(slices.Clone(known), func(m migration) bool { return slices.Contains(v.of(m.breaking), m.version) })
}

// unknown returns the versions that only a newer program knows.
func (v Versions) unknown(known []migration) (breaking, additions []int) {
	return unknown(v.Breaking, known, true), unknown(v.Additions, known, false)
}

func unknown(applied []int, known []migration, breaking bool) []int {
	return slices.DeleteFunc(slices.Clone(applied), func(version int) bool {
		return slices.ContainsFunc(known, func(m migration) bool { return m.version == version && m.breaking == breaking })
	})
}

// check refuses a database whose migrations this program cannot work with.
func (v Versions) check(known []migration) error {
	if breaking, _ := v.unknown(known); len(breaking) > 0 {
		return fmt.Errorf("the database has schema version %d, which this tarsy does not know and cannot work with (it knows up to %d): use a newer tarsy",
			slices.Max(breaking), known[len(known)-1].version)
	}

	for _, m := range known {
		if sum := v.sums[m.version]; sum != "" && sum != m.sum() {
			return fmt.Errorf("migration %s in the database differs from this tarsy's (%s, not %s): the database was created by an unreleased build; "+
				"start with a new database, or with the build that created this one", m.name, sum, m.sum())
		}
	}

	if v.River > riverVersion {
		return fmt.Errorf("the database has version %d of River's schema and this tarsy knows up to %d: use a newer tarsy", v.River, riverVersion)
	}

	return nil
}

// upToDate reports whether nothing is left to apply, and nothing to refuse.
func (v Versions) upToDate(known []migration) bool {
	return v.check(known) == nil && len(v.missing(known)) == 0 && v.River == riverVersion
}

// NewerSchema reports whether the database has migrations of ours that only a newer program knows.
func (db *DB) NewerSchema(ctx context.Context) (bool, error) {
	var current Versions

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

// SchemaRefused reports whether err means that the database's schema forbids a step, rather than that the database is in trouble:
// the data is wrong, or the schema is not the one that this program knows.
func SchemaRefused(err error) bool {
	code := stateOf(err)

	return isCleanError(err) && slices.ContainsFunc([]string{"0A", "22", "23", "42", "54"}, func(class string) bool { return strings.HasPrefix(code, class) })
}
