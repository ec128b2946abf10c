package pgtest

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// Interrupt makes a test database unavailable: it ends its connections and refuses new ones until restore is called.
func Interrupt(t testing.TB, database string) (restore func()) {
	t.Helper()
	address, err := url.Parse(database)
	if err != nil {
		t.Fatalf("pgtest: %v", err)
	}
	name := strings.TrimPrefix(address.Path, "/")
	run := func(sql string, arguments ...any) {
		t.Helper()
		connection, err := pgx.Connect(context.Background(), Server(t))
		if err != nil {
			t.Fatalf("pgtest: connect to the test server: %v", err)
		}
		defer connection.Close(context.Background()) //nolint:errcheck // nothing was left undone on it
		if _, err := connection.Exec(context.Background(), sql, arguments...); err != nil {
			t.Fatalf("pgtest: %s: %v", sql, err)
		}
	}
	run("ALTER DATABASE " + quote(name) + " ALLOW_CONNECTIONS false")
	run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
	return func() {
		t.Helper()
		run("ALTER DATABASE " + quote(name) + " ALLOW_CONNECTIONS true")
	}
}
