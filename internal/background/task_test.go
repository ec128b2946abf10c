package background_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/background"
)

func TestTaskRunsAtEachIntervalUntilItIsStopped(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		var task background.Task

		task.Stop() // not started yet

		calls := make(chan time.Duration, 10)
		began := time.Now()

		task.Start(func(ctx context.Context) {
			background.Every(ctx, 3*time.Second, time.Second, func(limited context.Context) {
				calls <- time.Since(began)
				<-limited.Done()
			})
		})

		require.Equal(t, 3*time.Second, <-calls)
		require.Equal(t, 6*time.Second, <-calls, "the limit ended the call before")

		task.Stop()
		task.Stop()
		require.Empty(t, calls)
	})
}
