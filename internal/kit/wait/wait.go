// Package wait has the waits of tests: for a condition, for a channel, for a call. Their time limit is met only by what never
// happens, so it is long, and longer on a slow machine. It is for tests, and imports nothing of the product.
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
	// pause is between two looks at a condition.
	pause = 5 * time.Millisecond
)

var errLimit = errors.New("the test waited too long")

// Limit is how long the waits of this package last.
func Limit() time.Duration { return slowness.Scale(limit) }

// Until waits until a condition holds, and fails the test if it does not. It looks at once and then every few milliseconds, in
// the goroutine of the test, so that the condition may fail the test itself. what is the condition in words.
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
			require.FailNow(t, "waited in vain for "+what, "the limit is %s", limit)
		}
	}
}

// For waits until a channel delivers or is closed, and returns what it delivered.
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
		require.FailNow(t, "waited in vain for "+what, "the limit is %s", limit)

		panic("FailNow does not return")
	}
}

// Context is the context of calls that wait: it ends with the test, or after the limit.
func Context(t testing.TB) context.Context {
	t.Helper()

	ctx, cancel := context.WithTimeoutCause(t.Context(), Limit(), errLimit)
	t.Cleanup(cancel)

	return ctx
}
