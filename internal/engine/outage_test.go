package engine

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestClaimerReportsDatabaseOutageOnceAndItsEnd(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	f := newFixture(t)
	s := f.open("server", func(cfg *Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) }) // claims only when the test calls claimOnce
	restore := pgtest.Interrupt(t, f.url)

	for range 3 {
		require.False(t, s.claimOnce(f.ctx, true))
	}

	require.Equal(t, 1, strings.Count(log.String(), "could not claim sessions"), log.String())

	restore()
	s.claimOnce(f.ctx, true)
	s.claimOnce(f.ctx, true)
	require.Equal(t, 1, strings.Count(log.String(), "claiming sessions again"), log.String())
	require.Contains(t, log.String(), "failures=3")
}

func TestRenewalAndAnnouncementReportDatabaseOutageOnceAndItsEnd(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	f := newFixture(t)
	s := f.open("server", func(cfg *Config) { cfg.Logger = slog.New(slog.NewTextHandler(&log, nil)) }) // not started; the test calls its methods
	s.runs["run"] = &sessionRun{engine: s.Engine, lease: postgres.Lease{SessionID: ident.New()}}
	restore := pgtest.Interrupt(t, f.url)

	for range 3 {
		s.renewRunning(f.ctx)
		s.announce(f.ctx)
	}

	require.Equal(t, 1, strings.Count(log.String(), "could not renew leases"), log.String())
	require.Equal(t, 1, strings.Count(log.String(), "could not announce this server"), log.String())

	restore()

	for range 2 {
		s.renewRunning(f.ctx)
		s.announce(f.ctx)
	}

	require.Equal(t, 1, strings.Count(log.String(), "renewing leases again"), log.String())
	require.Equal(t, 1, strings.Count(log.String(), "announcing this server again"), log.String())
	require.Equal(t, 2, strings.Count(log.String(), "failures=3"), log.String())
}
