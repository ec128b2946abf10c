package outbox_test

import (
	"testing"

	"go.uber.org/goleak"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(pgtest.Wrap(m)) }
