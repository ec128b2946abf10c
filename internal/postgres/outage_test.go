package postgres_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

func TestSenderAndFillerReportDatabaseOutageOnceAndItsEnd(t *testing.T) {
	t.Parallel()

	var log bytes.Buffer

	f := newFixture(t)
	// It is not started: it works only when the test calls it.
	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.URL, Clock: f.Clock, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	t.Cleanup(db.Stop)

	restore := pgtest.Interrupt(t, f.URL)

	for range 3 {
		db.Notify(t.Context())
		require.Error(t, db.Fill(t.Context()))
	}

	require.Equal(t, 1, strings.Count(log.String(), "could not notify other servers"), log.String())
	require.Equal(t, 1, strings.Count(log.String(), "could not index old sessions"), log.String())

	restore()

	for range 2 {
		db.Notify(t.Context())
		require.NoError(t, db.Fill(t.Context()))
	}

	require.Equal(t, 1, strings.Count(log.String(), "notifying other servers again"), log.String())
	require.Equal(t, 1, strings.Count(log.String(), "indexing old sessions again"), log.String())
	require.Equal(t, 2, strings.Count(log.String(), "failures=3"), log.String())
}
