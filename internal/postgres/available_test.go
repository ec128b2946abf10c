package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestCheckFindsMissingReadOnlyOrFullDatabase(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		damage func(*testing.T, *fixture)
		says   string
		// later means that only new connections see the damage.
		later bool
	}{
		"gone": {func(t *testing.T, f *fixture) {
			t.Helper()
			pgtest.Interrupt(t, f.URL)
		}, "The database cannot be reached.", false},
		"read-only": {func(t *testing.T, f *fixture) {
			t.Helper()
			f.Exec(t, `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || quote_ident(current_database()) || ' SET default_transaction_read_only = on'; END $$`)
		}, "The database accepts no writes.", true},
		// The function simulates a file that cannot be extended.
		"full": {func(t *testing.T, f *fixture) {
			t.Helper()
			f.Exec(t, `CREATE FUNCTION public.generate_series(int, int) RETURNS SETOF int LANGUAGE plpgsql AS
$$ BEGIN RAISE EXCEPTION 'could not write to file' USING ERRCODE = 'disk_full'; END $$`)
			f.Exec(t, `DO $$ BEGIN EXECUTE 'ALTER DATABASE ' || quote_ident(current_database()) || ' SET search_path = public, pg_catalog'; END $$`)
		}, "The disk of the database is full.", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t)
			db := f.Server(t)
			require.NoError(t, db.Check(t.Context()))
			c.damage(t, f)

			if c.later {
				db = f.Server(t)
			}

			err := db.Check(t.Context())
			require.Error(t, err)
			require.Equal(t, c.says, postgres.Problem(err))
		})
	}
}

func TestMissingReadOnlyOrFullDatabaseErrorsAreUnavailable(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	require.False(t, postgres.IsUnavailable(nil))

	for _, state := range []string{"disk_full", "out_of_memory", "too_many_connections", "read_only_sql_transaction", "admin_shutdown", "25P03", "25P04"} {
		_, err := f.Admin.Exec(t.Context(), `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '`+state+`'; END $$`)
		require.True(t, postgres.IsUnavailable(err), state)
	}

	for _, state := range []string{"unique_violation", "syntax_error", "query_canceled", "undefined_table"} {
		_, err := f.Admin.Exec(t.Context(), `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '`+state+`'; END $$`)
		require.Error(t, err)
		require.False(t, postgres.IsUnavailable(err), state)
	}

	_, err := db.SessionDetail(canceled(t), ident.New())
	require.Error(t, err)
	require.False(t, postgres.IsUnavailable(err), "a caller that went away")

	pgtest.Interrupt(t, f.URL)

	for range 20 { // some connections are ended, and others are refused
		_, err := db.SessionDetail(t.Context(), ident.New())
		require.True(t, postgres.IsUnavailable(err), "%v", err)
	}

	late, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	require.True(t, postgres.IsUnavailable(db.Ping(late)), "a database that does not answer in time")
}

func canceled(t *testing.T) context.Context {
	t.Helper()

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	return ctx
}
