package dump

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"tarsy.dev/tarsy/internal/postgres"
)

// markerTable exists from before the first table of a restore until its rows are committed. A killed restore leaves it, which
// tells the next one that the tables contain nobody's data.
const markerTable = "tarsy_restore"

// restoreLock is the advisory lock that allows one restore at a time on a database.
const restoreLock = 0x7461727379_02

var (
	errNotEmpty  = errors.New("the database has tables of TARSy already: restore into an empty database. Nothing was changed")
	errInUse     = errors.New("a server wrote to the database during the restore: stop all servers, and restore into an empty database")
	errRestoring = errors.New("another restore is running on this database: wait for it to finish. Nothing was changed")
)

// target is the database that a restore fills.
type target struct{ conn *pgx.Conn }

// prepare locks the database, verifies that it is empty, and marks it.
func (t target) prepare(ctx context.Context) error {
	var locked bool
	if err := t.conn.QueryRow(ctx, "SELECT pg_try_advisory_lock($1)", int64(restoreLock)).Scan(&locked); err != nil {
		return fmt.Errorf("lock the database: %w", err)
	}

	if !locked {
		return errRestoring
	}

	found, err := readCatalog(ctx, t.conn)
	if err != nil {
		return err
	}

	if len(found.tables) > 0 {
		if err := t.removeLeftover(ctx, found); err != nil {
			return err
		}
	}

	if _, err := t.conn.Exec(ctx, "CREATE TABLE IF NOT EXISTS "+markerTable+" (begun timestamptz NOT NULL DEFAULT now())"); err != nil {
		return fmt.Errorf("begin the restore: %w", err)
	}

	return nil
}

// removeLeftover removes the empty tables of a killed restore. It does not touch anybody else's tables.
func (t target) removeLeftover(ctx context.Context, found *catalog) error {
	var marked bool
	if err := t.conn.QueryRow(ctx, "SELECT to_regclass($1) IS NOT NULL", markerTable).Scan(&marked); err != nil {
		return fmt.Errorf("look at the database: %w", err)
	}

	if !marked {
		return errNotEmpty
	}

	if used, err := t.holdsRows(ctx, found); err != nil {
		return err
	} else if used {
		return errNotEmpty
	}

	return t.clear(ctx)
}

// holdsRows reports whether the tables have any rows besides those of the migrations themselves.
func (t target) holdsRows(ctx context.Context, found *catalog) (bool, error) {
	conditions := []string{"false"}

	for _, table := range found.tables {
		if !slices.Contains(versionTables(), table.Name) {
			conditions = append(conditions, "EXISTS (SELECT FROM "+quote(table.Name)+")")
		}
	}

	var holds bool
	if err := t.conn.QueryRow(ctx, "SELECT "+strings.Join(conditions, " OR ")).Scan(&holds); err != nil {
		return false, fmt.Errorf("look for rows in the database: %w", err)
	}

	return holds, nil
}

// leftoverSQL lists the statements that drop what migrations create. A sequence that belongs to a column is dropped with its table.
const leftoverSQL = `
SELECT 'DROP TABLE ' || c.oid::regclass || ' CASCADE' FROM pg_class c
WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'r' AND c.relname = ANY ($1)
UNION ALL
SELECT 'DROP SEQUENCE ' || c.oid::regclass || ' CASCADE' FROM pg_class c
WHERE c.relnamespace = quote_ident(current_schema())::regnamespace AND c.relkind = 'S' AND c.relname = ANY ($2)
UNION ALL
SELECT 'DROP FUNCTION ' || p.oid::regprocedure || ' CASCADE' FROM pg_proc p
WHERE p.pronamespace = quote_ident(current_schema())::regnamespace AND p.prokind = 'f' AND p.proname = ANY ($3)
UNION ALL
SELECT 'DROP TYPE ' || y.oid::regtype || ' CASCADE' FROM pg_type y
WHERE y.typnamespace = quote_ident(current_schema())::regnamespace AND y.typtype = 'e' AND y.typname = ANY ($4)`

// clear removes everything of TARSy's, and the marker, in one transaction.
func (t target) clear(ctx context.Context) error {
	objects := postgres.SchemaObjects()

	err := pgx.BeginFunc(ctx, t.conn, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, leftoverSQL, objects.Tables, objects.Sequences, objects.Functions, objects.Types)
		if err != nil {
			return err
		}

		statements, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil {
			return err
		}

		for _, statement := range append(statements, "DROP TABLE IF EXISTS "+markerTable) {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}

		return nil
	})
	if err != nil {
		return fmt.Errorf("remove the tables of a restore that was not completed: %w", err)
	}

	return nil
}
