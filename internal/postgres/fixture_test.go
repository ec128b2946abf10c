package postgres_test

import (
	"testing"

	"tarsy.dev/tarsy/internal/postgres/storetest"
)

// fixture adds what only the tests of this package need.
type fixture struct{ *storetest.Fixture }

func newFixture(t *testing.T) *fixture {
	t.Helper()

	return &fixture{storetest.New(t)}
}

func newFixtureAt(t *testing.T, address string) *fixture {
	t.Helper()

	return &fixture{storetest.NewAt(t, address)}
}
