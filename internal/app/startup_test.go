package app

import (
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSlowStartupStepIsReportedUntilItEnds(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		lines := make(chan string, 10)
		a := &App{logger: slog.New(slog.DiscardHandler), options: Options{Progress: func(line string) { lines <- line }}}

		done := a.Step("connecting to the database at db:5432")

		time.Sleep(2 * time.Second) //nolint:forbidigo // the time of a synctest bubble
		synctest.Wait()
		require.Empty(t, lines, "a short step is not reported")

		time.Sleep(12 * time.Second) //nolint:forbidigo // the time of a synctest bubble
		synctest.Wait()
		require.Equal(t, "Still starting: connecting to the database at db:5432 (3s)", <-lines)
		require.Equal(t, "Still starting: connecting to the database at db:5432 (13s)", <-lines)
		require.Empty(t, lines)

		done()
		time.Sleep(time.Minute) //nolint:forbidigo // the time of a synctest bubble
		synctest.Wait()
		require.Empty(t, lines, "nothing is reported after the end")
	})
}
