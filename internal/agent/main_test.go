package agent

import (
	"flag"
	"testing"

	"go.uber.org/goleak"
)

// propertyCases keeps the property tests short; -rapid.checks overrides it.
const propertyCases = "25"

func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", propertyCases); err != nil {
		panic(err)
	}

	goleak.VerifyTestMain(m)
}
