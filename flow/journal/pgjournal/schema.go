package pgjournal

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/jackc/pgx/v5"
)

//go:embed schema.sql
var schema string

// migrateLock is the advisory lock that lets many programs start concurrently and only one of them create the tables.
const migrateLock = 0x70676a6f75726e61

// Schema returns the definition of the tables that Migrate creates.
func Schema() string { return schema }

// Migrate creates the tables of this package, whose names begin with pgjournal_, in the first schema of the search path of db:
// a pool or a connection. It does nothing if they already exist.
func Migrate(ctx context.Context, db interface {
	Begin(ctx context.Context) (pgx.Tx, error)
},
) error {
	err := pgx.BeginFunc(ctx, db, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock($1)`, int64(migrateLock)); err != nil {
			return err
		}

		var exists bool
		if err := tx.QueryRow(ctx, `SELECT to_regclass('pgjournal_entries') IS NOT NULL`).Scan(&exists); err != nil || exists {
			return err
		}

		_, err := tx.Exec(ctx, schema)

		return err
	})
	if err != nil {
		return fmt.Errorf("create the tables of the journal: %w", err)
	}

	return nil
}
