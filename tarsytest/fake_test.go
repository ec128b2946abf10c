package tarsytest_test

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
)

// fakeT takes the failures of a test within a test; everything else is the outer test's affair.
type fakeT struct {
	testing.TB

	mu       sync.Mutex
	failures []string
	cleanups []func()
}

func (f *fakeT) Errorf(format string, args ...any) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.failures = append(f.failures, fmt.Sprintf(format, args...))
}

func (f *fakeT) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	f.FailNow()
}

func (f *fakeT) FailNow() { runtime.Goexit() }

func (f *fakeT) Cleanup(cleanup func()) { f.cleanups = append(f.cleanups, cleanup) }

// failuresOf runs a test to its end, clean-up included, and returns what it complained about.
func failuresOf(t *testing.T, test func(t testing.TB)) string {
	t.Helper()

	f := &fakeT{TB: t}

	var running sync.WaitGroup

	running.Go(func() {
		defer func() {
			for _, cleanup := range slices.Backward(f.cleanups) {
				cleanup()
			}
		}()

		test(f)
	})
	running.Wait()

	return strings.Join(f.failures, "\n")
}
