package dump_test

import (
	"testing"

	"tarsy.dev/tarsy/tarsytest"
)

func TestMain(m *testing.M) { tarsytest.Main(m) }
