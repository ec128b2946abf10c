package postgres

import (
	"context"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/riverqueue/river/rivermigrate"
)

// Migration constants for tests.
const (
	RiverVersion = riverVersion
	MigrateLock  = int64(migrateLock)
)

// RiverVersions returns the versions that River knows.
func RiverVersions() []int {
	var known []int
	for _, m := range riverMigrations().AllVersions() {
		known = append(known, m.Version)
	}

	return known
}

// DowngradeRiver reverts River's schema to a version; zero removes it.
func DowngradeRiver(ctx context.Context, conn *pgx.Conn, version int) error {
	if version == 0 {
		version = -1
	}

	return pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error {
		//nolint:staticcheck // as migrateRiver
		_, err := riverMigrations().MigrateTx(ctx, tx, rivermigrate.DirectionDown, &rivermigrate.MigrateOpts{TargetVersion: version})

		return err
	})
}

// Statements of the clean-up.
const (
	LockForTrimSQL = lockForTrimSQL
	TrimSQL        = trimSQL
	ExpireSQL      = expireSQL
)

// Plan returns how a connection of the job pool runs a statement: with the index, if there is one, however small the tables are.
func (db *DB) Plan(ctx context.Context, sql string) (string, error) {
	conn, err := db.jobs.Acquire(ctx)
	if err != nil {
		return "", err
	}
	defer conn.Release()

	if _, err := conn.Exec(ctx, "PREPARE planned AS "+sql); err != nil {
		return "", err
	}
	defer conn.Exec(ctx, "DEALLOCATE planned")

	nulls := strings.Repeat("NULL, ", strings.Count(sql, "$3")+1) + "NULL"

	rows, err := conn.Query(ctx, "EXPLAIN EXECUTE planned("+nulls+")", pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		return "", err
	}

	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])

	return strings.Join(lines, "\n"), err
}
