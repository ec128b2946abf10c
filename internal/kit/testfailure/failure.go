// Package testfailure tests test kits: it runs a test within a test and returns its failures.
package testfailure

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Of runs a test to completion, including its cleanups, and returns its failures.
func Of(t testing.TB, test func(t testing.TB)) string {
	t.Helper()

	inner := &recorder{TB: t}

	var running sync.WaitGroup

	running.Go(func() {
		defer func() {
			for _, cleanup := range slices.Backward(inner.cleanups) {
				cleanup()
			}
		}()

		test(inner)
	})
	running.Wait()

	return strings.Join(inner.failures, "\n")
}

// recorder records the failures of the inner test; everything else goes to the outer test.
type recorder struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

// Errorf implements testing.TB.
func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// Fatalf implements testing.TB.
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	r.FailNow()
}

// FailNow implements testing.TB.
func (r *recorder) FailNow() { runtime.Goexit() }

// Cleanup implements testing.TB.
func (r *recorder) Cleanup(cleanup func()) { r.cleanups = append(r.cleanups, cleanup) }
