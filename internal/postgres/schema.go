package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"
)

// checkPlace refuses a database in which the tables would be created in the wrong place or not at all, with the reasons that
// Inspect gives. It changes nothing.
func checkPlace(ctx context.Context, conn *pgx.Conn) error {
	seen := facts{Address: conn.Config().RuntimeParams}

	err := pgx.BeginTxFunc(ctx, conn, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error { return seen.read(ctx, tx) })
	if err != nil {
		return fmt.Errorf("look at the schema of the database: %w", err)
	}

	for _, check := range inspections() {
		if check.place == "" {
			continue
		}

		if found := check.judge(&seen); found.Level == LevelFail || found.Level == check.place {
			return fmt.Errorf("%s: %s", found.Found, found.Advice)
		}
	}

	return nil
}

// pinFunctionsSQL sets the search path of the functions that this transaction created or changed: to the schema. PostgreSQL runs
// functions with other paths than ours: since version 17 an index is built with an empty one, and pg_restore and pg_upgrade use
// an empty one too, so the names in a function's body would not be found. CREATE OR REPLACE removes the setting, so this runs at
// the end of every migration, before the next one builds an index with the function. The names in a body that was parsed when the
// function was created (prosqlbody) are already bound.
const pinFunctionsSQL = `
DO $$
DECLARE
    changed regprocedure;
BEGIN
    FOR changed IN
        SELECT oid FROM pg_proc WHERE pronamespace = quote_ident(current_schema())::regnamespace AND xmin = pg_current_xact_id()::xid
            AND prosqlbody IS NULL
    LOOP
        EXECUTE format('ALTER ROUTINE %s SET search_path TO %I, pg_temp', changed, current_schema());
    END LOOP;
END
$$`

// pinFunctions sets the search path of the functions of a migration.
func pinFunctions(ctx context.Context, tx pgx.Tx) error {
	if _, err := tx.Exec(ctx, pinFunctionsSQL); err != nil {
		return fmt.Errorf("set the search path of functions: %w", err)
	}

	return nil
}
