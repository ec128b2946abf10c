package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestClaimerReportsDatabaseOutageOnceAndItsEnd(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	f := newFixture(t)
	s := f.open("server", func(cfg *Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) }) // claims when it is told to
	restore := pgtest.Interrupt(t, f.url)

	for range 3 {
		require.False(t, s.claimOnce(f.ctx, true))
	}

	require.Equal(t, 1, strings.Count(log.String(), "could not claim sessions"), log.String())

	restore()
	s.claimOnce(f.ctx, true)
	s.claimOnce(f.ctx, true)
	require.Equal(t, 1, strings.Count(log.String(), "claims sessions again"), log.String())
	require.Contains(t, log.String(), "failures=3")
}
