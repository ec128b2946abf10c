package retention_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestMain(m *testing.M) {
	// The test binary also serves as the server that a test kills.
	if url := os.Getenv(childVariable); url != "" {
		os.Exit(child(url))
	}

	goleak.VerifyTestMain(pgtest.Wrap(m))
}
