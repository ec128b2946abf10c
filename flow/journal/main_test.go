package journal_test

import (
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// children returns the programs that tests start as separate processes: this binary, with the name in an environment variable.
func children() map[string]func() error {
	return map[string]func() error{"append until killed": appendUntilKilled, "fill the disk": fillTheDisk}
}

const childVariable = "JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	if name := os.Getenv(childVariable); name != "" {
		if err := children()[name](); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}

		os.Exit(0)
	}

	goleak.VerifyTestMain(m)
}
