// Package journaltest is the conformance suite of journals. It knows only the contract, so every implementation of
// journal.Reader runs it.
package journaltest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/internal/kit/slowness"
)

// patience is how long a test waits for something that must happen; only a journal that lost a wake-up exceeds it.
var patience = slowness.Scale(30 * time.Second)

// many is more records than a journal would fetch at a time.
const many = 300

var errEnough = errors.New("seen enough")

// Append appends entries to the journal under test atomically.
type Append func(ctx context.Context, entries ...string) error

// Open returns the reader of a new journal and a function that appends to it. The journal can already contain records.
type Open func(t *testing.T) (journal.Reader[string], Append)

// Reader checks that the reader keeps its contract.
func Reader(t *testing.T, open Open) {
	t.Helper()

	tests := map[string]func(*testing.T, *fixture){
		"head counts every record":                        headCounts,
		"tail yields all records in order":                tailInOrder,
		"tail begins after any position":                  tailFromAnyPosition,
		"tail waits at the end and is woken by an append": tailIsWoken,
		"tail waits for a position that is yet to come":   tailFromTheFuture,
		"several tailers at once each see everything":     severalTailers,
		"records appended while tailing arrive once":      appendWhileTailing,
		"a slow tailer misses nothing":                    slowTailer,
		"cancelling ends a waiting tail with the cause":   cancelWaiting,
		"cancelling ends a busy tail with the cause":      cancelBusy,
		"a tail may be left at any record":                leaveTail,
		"backward from zero yields newest first":          backwardFromEnd,
		"backward begins before any position":             backwardFromAnyPosition,
		"backward beyond the end begins at the end":       backwardFromTheFuture,
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			reader, appendTo := open(t)

			// The cause distinguishes a test that timed out from one that read wrong records.
			ctx, cancel := context.WithTimeoutCause(t.Context(), patience,
				errors.New("the journal did not deliver what was appended"))
			t.Cleanup(cancel)

			base, err := reader.Head(ctx)
			require.NoError(t, err)

			test(t, &fixture{ctx: ctx, reader: reader, appendTo: appendTo, base: base})
		})
	}
}

// fixture is one journal. The records of the test are those after base.
type fixture struct {
	ctx      context.Context //nolint:containedctx // lives as long as one test
	reader   journal.Reader[string]
	appendTo Append
	base     journal.Position
	appended int
}

// add appends n entries, in batches of one, two and three in turn.
func (f *fixture) add(t *testing.T, n int) {
	t.Helper()
	require.NoError(t, f.grow(n))
}

func (f *fixture) grow(n int) error {
	for size := 1; n > 0; size = size%3 + 1 {
		batch := make([]string, 0, size)
		for range min(size, n) {
			f.appended++
			batch = append(batch, entry(f.appended))
		}

		err := f.appendTo(f.ctx, batch...)
		if err != nil {
			return fmt.Errorf("append: %w", err)
		}

		n -= len(batch)
	}

	return nil
}

// entry returns the n-th entry that a test appends; not all of it is ASCII.
func entry(n int) string { return fmt.Sprintf("entry %d, «%c»", n, rune('α'+n%20)) }

// at returns the position of the n-th entry that a test appended.
func (f *fixture) at(n int) journal.Position { return f.base + journal.Position(n) }

// check returns an error unless the record is the n-th that the test appended.
func (f *fixture) check(record journal.Record[string], n int) error {
	switch {
	case record.Position != f.at(n):
		return fmt.Errorf("record %d has position %d instead of %d", n, record.Position, f.at(n))
	case record.Entry != entry(n):
		return fmt.Errorf("record %d is %q instead of %q", n, record.Entry, entry(n))
	case record.At.IsZero():
		return fmt.Errorf("record %d has no time", n)
	}

	return nil
}

// expect tails the entries after the given one up to the last one.
func (f *fixture) expect(ctx context.Context, after, last int) error {
	next := after + 1
	if next > last {
		return nil
	}

	for record, err := range f.reader.Tail(ctx, f.at(after)) {
		if err != nil {
			return fmt.Errorf("tail: %w", err)
		}

		err = f.check(record, next)
		if err != nil {
			return err
		}

		if next == last {
			return nil
		}

		next++
	}

	return errors.New("the tail ended without an error")
}

func headCounts(t *testing.T, f *fixture) {
	for range 5 {
		f.add(t, 2)

		head, err := f.reader.Head(f.ctx)
		require.NoError(t, err)
		require.Equal(t, f.at(f.appended), head)
	}
}

func tailInOrder(t *testing.T, f *fixture) {
	f.add(t, many)
	require.NoError(t, f.expect(f.ctx, 0, many))

	first := journal.Position(0)
	for record, err := range f.reader.Tail(f.ctx, 0) {
		require.NoError(t, err)

		first++
		require.Equal(t, first, record.Position, "positions count from one without gaps")

		if first == f.at(many) {
			break
		}
	}
}

func tailFromAnyPosition(t *testing.T, f *fixture) {
	f.add(t, 20)

	for after := range 20 {
		require.NoError(t, f.expect(f.ctx, after, 20))
	}
}

func tailIsWoken(t *testing.T, f *fixture) {
	f.add(t, 2)

	next, stop := iter.Pull2(f.reader.Tail(f.ctx, f.at(0)))
	defer stop()

	for n := 1; n <= 2; n++ {
		f.pull(t, next, n)
	}

	for n := 3; n <= 10; n++ {
		woken := make(chan error, 1)

		go func() { // ends with the append below, or with the test's context
			record, err, ok := next()
			if err == nil && !ok {
				err = errors.New("the tail ended")
			}

			if err == nil {
				err = f.check(record, n)
			}

			woken <- err
		}()

		f.add(t, 1)
		require.NoError(t, <-woken)
	}
}

func tailFromTheFuture(t *testing.T, f *fixture) {
	var group errgroup.Group

	group.Go(func() error { return f.expect(f.ctx, 5, 6) })
	f.add(t, 6)
	require.NoError(t, group.Wait())
}

func severalTailers(t *testing.T, f *fixture) {
	f.add(t, 10)

	var group errgroup.Group
	for tailer := range 8 {
		group.Go(func() error { return f.expect(f.ctx, tailer, 10+many) })
	}

	f.add(t, many)
	require.NoError(t, group.Wait())
}

func appendWhileTailing(t *testing.T, f *fixture) {
	f.add(t, 1)

	seen := 0
	for record, err := range f.reader.Tail(f.ctx, f.at(0)) {
		require.NoError(t, err)

		seen++
		require.NoError(t, f.check(record, seen))

		if seen == 60 {
			break
		}

		// The tail is sometimes in the middle of its batch, and sometimes at its end.
		if seen == f.appended || seen%4 == 0 {
			f.add(t, 3)
		}
	}
}

func slowTailer(t *testing.T, f *fixture) {
	f.add(t, 5)

	next, stop := iter.Pull2(f.reader.Tail(f.ctx, f.at(0)))
	defer stop()

	f.pull(t, next, 1)
	f.add(t, many)

	for n := 2; n <= 5+many; n++ {
		f.pull(t, next, n)
	}
}

func (f *fixture) pull(t *testing.T, next func() (journal.Record[string], error, bool), n int) {
	t.Helper()

	record, err, ok := next()
	require.NoError(t, err)
	require.True(t, ok, "the tail ended")
	require.NoError(t, f.check(record, n))
}

func cancelWaiting(t *testing.T, f *fixture) {
	f.add(t, 1)

	ctx, cancel := context.WithCancelCause(f.ctx)
	ended := make(chan error, 1)
	reached := make(chan struct{})

	go func() { // ends with the cancellation below
		var last error

		for _, err := range f.reader.Tail(ctx, f.at(0)) {
			if err == nil {
				close(reached)
			}

			last = err
		}

		ended <- last
	}()

	<-reached
	cancel(errEnough)
	require.ErrorIs(t, <-ended, errEnough)
}

func cancelBusy(t *testing.T, f *fixture) {
	f.add(t, many)

	ctx, cancel := context.WithCancelCause(f.ctx)
	defer cancel(nil)

	var last error

	seen := 0
	for _, err := range f.reader.Tail(ctx, f.at(0)) {
		last = err
		if err == nil {
			seen++
		}

		if seen == 3 {
			cancel(errEnough)
		}
	}

	require.ErrorIs(t, last, errEnough)
	require.GreaterOrEqual(t, seen, 3)

	for _, err := range f.reader.Tail(ctx, f.at(0)) {
		last = err
	}

	require.ErrorIs(t, last, errEnough, "a tail that begins too late ends at once")
}

func leaveTail(t *testing.T, f *fixture) {
	f.add(t, 10)

	for last := 1; last <= 10; last++ {
		require.NoError(t, f.expect(f.ctx, 0, last))
	}
}

// descend checks that Backward yields the n-th entry and then all before it, down to the first record.
func (f *fixture) descend(t *testing.T, before journal.Position, n int) {
	t.Helper()

	want := f.at(n)
	for record, err := range f.reader.Backward(f.ctx, before) {
		require.NoError(t, err)
		require.Equal(t, want, record.Position)

		if want > f.base {
			require.NoError(t, f.check(record, int(want-f.base)))
		}

		want--
	}

	require.Zero(t, want, "the sequence ends at the first record")
}

func backwardFromEnd(t *testing.T, f *fixture) {
	f.descend(t, 0, 0)
	f.add(t, many)
	f.descend(t, 0, many)

	for record, err := range f.reader.Backward(f.ctx, 0) {
		require.NoError(t, err)
		require.NoError(t, f.check(record, many))

		break
	}
}

func backwardFromAnyPosition(t *testing.T, f *fixture) {
	f.add(t, 20)

	for n := 1; n <= 20; n++ {
		f.descend(t, f.at(n), n-1)
	}
}

func backwardFromTheFuture(t *testing.T, f *fixture) {
	f.add(t, 3)
	f.descend(t, f.at(4), 3)
	f.descend(t, f.at(1000), 3)
}
