package plan

import (
	"flag"
	"os"
	"testing"
)

// propertyCases keeps the property tests short; -rapid.checks overrides it.
const propertyCases = "40"

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", propertyCases); err != nil {
		panic(err)
	}

	os.Exit(m.Run())
}
