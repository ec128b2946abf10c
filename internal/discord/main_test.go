package discord

import (
	"testing"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestMain(m *testing.M) { pgtest.Main(m) }
