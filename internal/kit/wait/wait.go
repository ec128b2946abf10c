// Package wait provides waits for tests: for a condition, a channel or a call. Only something that never happens reaches
// the time limit, so the limit is long, and longer on a slow machine. It is for tests, and imports nothing from the
// product.
package wait

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
)

const (
	limit = time.Minute
	// pause is the time between two checks of a condition.
	pause = 5 * time.Millisecond
)

var errLimit = errors.New("timed out")

// Limit returns the time limit of the waits in this package.
func Limit() time.Duration { return slowness.Scale(limit) }

// Until waits for a condition and fails the test if it does not become true. It checks the condition immediately and then
// every few milliseconds, in the test's goroutine, so the condition can fail the test itself. what describes the condition
// in words.
func Until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	UntilWithin(t, Limit(), what, holds)
}

// UntilWithin is Until with another limit, which should be scaled too.
func UntilWithin(t testing.TB, limit time.Duration, what string, holds func() bool) {
	t.Helper()

	again := time.NewTicker(pause)
	defer again.Stop()

	for deadline := time.Now().Add(limit); !holds(); <-again.C {
		if time.Now().After(deadline) {
			require.FailNow(t, "timed out waiting for "+what, "the limit is %s", limit)
		}
	}
}

// For waits for a value from a channel, or for the channel to be closed, and returns what it received.
func For[T any](t testing.TB, c <-chan T, what string) T {
	t.Helper()

	return ForWithin(t, Limit(), c, what)
}

// ForWithin is For with another limit, which should be scaled too.
func ForWithin[T any](t testing.TB, limit time.Duration, c <-chan T, what string) T {
	t.Helper()

	timeout := time.NewTimer(limit)
	defer timeout.Stop()

	select {
	case value := <-c:
		return value
	case <-timeout.C:
		require.FailNow(t, "timed out waiting for "+what, "the limit is %s", limit)

		panic("FailNow does not return")
	}
}

// Context returns a context for calls that wait: it ends with the test, or after the limit.
func Context(t testing.TB) context.Context {
	t.Helper()

	ctx, cancel := context.WithTimeoutCause(t.Context(), Limit(), errLimit)
	t.Cleanup(cancel)

	return ctx
}
