// Package e2e contains the scenarios: each boots the whole product and drives it from outside.
package e2e

import (
	"os"
	"testing"

	"tarsy.dev/tarsy/tarsytest"
)

// TestMain runs the scenarios, or a server of one of them (see process), or measures costs (see measureProcess).
func TestMain(m *testing.M) {
	if settings, ok := os.LookupEnv(processVariable); ok {
		os.Exit(serveProcess(settings))
	}

	if file, ok := os.LookupEnv(costVariable); ok {
		measureProcess(file)
	}

	tarsytest.Main(newPrograms(m))
}
