package postgres_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// Providers and administrators set values for a database or a role. Connections have ours regardless.
func TestConnectionsIgnoreSettingsOfDatabase(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	name := pgx.Identifier{storetest.Value[string](t, f.Admin, "SELECT current_database()")}.Sanitize()
	want := postgres.ConnectionSettings(storetest.Value[string](t, f.Admin, "SELECT current_setting('server_version')"))

	for setting, ours := range want {
		f.Exec(t, fmt.Sprintf("ALTER DATABASE %s SET %s = '%s'", name, setting, otherThan(setting, ours)))
	}

	db := f.Server(t)

	for pool, conns := range db.Pools() {
		for setting, ours := range want {
			if pool == "readers" && setting == "statement_timeout" {
				continue // readers have their own limit, see TestPlannerSettingsApplyToWorkAndTimeoutToReaders
			}

			var got string
			require.NoError(t, conns.QueryRow(t.Context(), "SELECT current_setting($1)", setting).Scan(&got))
			// On a Unix socket PostgreSQL shows 0 for TCP settings.
			if !strings.HasPrefix(setting, "tcp_") {
				require.Equal(t, ours, got, "%s of pool %s", setting, pool)
			}
		}
	}

	session := f.Finished(t, db, tarsy.SessionCompleted)
	require.Equal(t, "completed", storetest.Value[string](t, f.Admin, "SELECT status FROM sessions WHERE id = $1", session.ID))
	require.NoError(t, postgres.Migrate(t.Context(), f.URL))
}

// otherThan returns a harmful value.
func otherThan(setting, ours string) string {
	switch {
	case ours == "off":
		return "on"
	case ours == "on":
		return "off"
	case setting == "default_transaction_isolation":
		return "serializable"
	case setting == "client_encoding":
		return "LATIN1"
	case strings.HasPrefix(setting, "tcp_"):
		return "1"
	default:
		return "30s"
	}
}

func TestAddressOverridesConnectionSettings(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	address, err := url.Parse(f.URL)
	require.NoError(t, err)

	query := address.Query()
	query.Set("lock_timeout", "90s")
	address.RawQuery = query.Encode()

	db := f.ServerAt(t, address.String())
	for name, pool := range db.Pools() {
		var got string
		require.NoError(t, pool.QueryRow(t.Context(), "SELECT current_setting('lock_timeout')").Scan(&got))
		require.Equal(t, "90s", got, name)
	}
}

func TestCheckFailsWhilePostgresRefusesConnections(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	address := asGuest(t, f.URL, "public")
	role, _, _ := strings.Cut(strings.TrimPrefix(address, "postgres://"), ":")
	f.Exec(t, "GRANT ALL ON ALL TABLES IN SCHEMA public TO "+role)

	// It is not started: background work would open connections at any time, and be refused.
	db, err := postgres.Open(t.Context(), postgres.Config{URL: address, Clock: f.Clock})
	require.NoError(t, err)
	t.Cleanup(db.Stop)
	require.NoError(t, db.Check(t.Context()))

	// Open connections keep working, and one more is refused.
	f.Exec(t, "ALTER ROLE "+role+" CONNECTION LIMIT 1")
	require.NoError(t, db.Check(t.Context()), "nobody was refused yet")

	_, err = db.Pools()["alerts"].Acquire(t.Context())
	require.True(t, postgres.IsUnavailable(err), "%v", err)

	err = db.Check(t.Context())
	require.Error(t, err)
	require.True(t, postgres.IsUnavailable(err), "%v", err)
	require.Equal(t, "The database has no connections left. Raise max_connections, or the limit of the role or database; each server needs "+
		fmt.Sprint(postgres.ServerConnections)+".", postgres.Problem(err))
	require.Error(t, db.Check(t.Context()), "as long as it lasts")

	f.Exec(t, "ALTER ROLE "+role+" CONNECTION LIMIT -1")
	require.NoError(t, db.Check(t.Context()))
}

// PostgreSQL allows 100 connections by default, and reserves three of them for superusers.
func TestThreeServersFitIntoDefaultConnectionsWithSomeLeft(t *testing.T) {
	t.Parallel()

	const usable, others = 97, 4

	f := newFixture(t)
	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Clock: f.Clock, PollEvery: time.Hour})
	require.NoError(t, err)
	t.Cleanup(db.Stop)

	most := postgres.Listeners
	for _, pool := range db.Pools() {
		most += int(pool.Config().MaxConns)
	}

	require.Equal(t, postgres.ServerConnections, most)
	require.LessOrEqual(t, 3*most+others, usable)
}
