package postgres_test

import (
	"flag"
	"testing"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// propertyCases keeps the property tests short; -rapid.checks increases it.
const propertyCases = "30"

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", propertyCases); err != nil {
		panic(err)
	}

	goleak.VerifyTestMain(pgtest.Wrap(m))
}
