package background_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/background"
)

func TestOutageIsReportedAtGrowingIntervalsAndWhenItIsOver(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer

		outage := background.Outage{
			Failing: "cannot work", Over: "works again", Level: slog.LevelWarn, Logger: slog.New(slog.NewTextHandler(&log, nil)),
		}
		began := time.Now()

		var reported []time.Duration

		note := func(err error) {
			before := log.Len()
			outage.Note(t.Context(), err)

			if log.Len() > before {
				reported = append(reported, time.Since(began))
			}
		}

		note(nil)
		require.Empty(t, reported, "nothing was wrong")

		for range 20 * 60 {
			note(errors.New("no database"))
			time.Sleep(time.Second) //nolint:forbidigo // the time of a synctest bubble
		}

		require.Equal(t, []time.Duration{
			0, 10 * time.Second, 30 * time.Second, 70 * time.Second, 150 * time.Second, 310 * time.Second, 610 * time.Second, 910 * time.Second,
		}, reported)

		note(nil)
		note(nil)
		require.Equal(t, 1, strings.Count(log.String(), "works again"))
		require.Contains(t, log.String(), "level=INFO msg=\"works again\" failures=1200 duration=20m0s")

		note(errors.New("again"))
		require.Len(t, reported, 10)
		require.Contains(t, log.String(), "level=WARN msg=\"cannot work\" error=again failures=1")
	})
}
