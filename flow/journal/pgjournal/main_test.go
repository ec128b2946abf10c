package pgjournal_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// childVariable makes this binary a separate writer process, on the database that it names.
const childVariable = "PGJOURNAL_TEST_DATABASE"

func TestMain(m *testing.M) {
	if url := os.Getenv(childVariable); url != "" {
		if err := appendUntilKilled(url); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}

		os.Exit(0)
	}

	goleak.VerifyTestMain(pgtest.Wrap(m))
}
