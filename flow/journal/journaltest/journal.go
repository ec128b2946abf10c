package journaltest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
)

// OpenJournal returns a new and empty journal whose records carry the time of the clock, at least to the microsecond.
type OpenJournal func(t *testing.T, clock clockwork.Clock) journal.Journal[string]

// Journal tests the contract of Append, and WaitFor on the journal. The suites for its reader are Reader and Trimmed.
func Journal(t *testing.T, open OpenJournal) {
	t.Helper()

	tests := map[string]func(*testing.T, *journalFixture){
		"append returns the position of its last entry":        appendReturnsPosition,
		"append stamps a batch with one time":                  appendStampsTime,
		"entries come back as they were":                       entriesComeBack,
		"cancelled calls change nothing":                       cancelledCalls,
		"concurrent batches stay together and in order":        concurrentBatches,
		"readers never see a part of a batch":                  batchesAppearWhole,
		"wait finds the first earlier match":                   waitFindsEarlier,
		"wait finds a later match":                             waitFindsLater,
		"wait ends with the cause":                             waitEndsWithCause,
		"wait that is cancelled before it begins ends at once": waitCancelledBefore,
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ctx, cancel := context.WithTimeoutCause(t.Context(), patience,
				errors.New("the journal did not deliver what was appended"))
			t.Cleanup(cancel)

			clock := clockwork.NewFakeClock()

			test(t, &journalFixture{ctx: ctx, clock: clock, journal: open(t, clock)})
		})
	}
}

type journalFixture struct {
	ctx     context.Context //nolint:containedctx // lives as long as one test
	clock   *clockwork.FakeClock
	journal journal.Journal[string]
}

// all returns the first n records, oldest first.
func (f *journalFixture) all(t *testing.T, n int) []journal.Record[string] {
	t.Helper()

	records := make([]journal.Record[string], 0, n)

	for record, err := range f.journal.Tail(f.ctx, 0) {
		require.NoError(t, err)

		if records = append(records, record); len(records) == n {
			break
		}
	}

	return records
}

func appendReturnsPosition(t *testing.T, f *journalFixture) {
	position, err := f.journal.Append(f.ctx)
	require.NoError(t, err)
	require.Zero(t, position, "nothing was ever appended")

	for n, batch := range [][]string{{"a"}, {"b", "c", "d"}, {"e", "f"}} {
		position, err = f.journal.Append(f.ctx, batch...)
		require.NoError(t, err)
		require.EqualValues(t, []int{1, 4, 6}[n], position)
	}

	position, err = f.journal.Append(f.ctx)
	require.NoError(t, err)
	require.EqualValues(t, 6, position, "nothing was appended this time")

	for i, record := range f.all(t, 6) {
		require.EqualValues(t, i+1, record.Position)
		require.Equal(t, "abcdef"[i:i+1], record.Entry)
	}
}

func appendStampsTime(t *testing.T, f *journalFixture) {
	first := f.clock.Now()

	_, err := f.journal.Append(f.ctx, "a", "b")
	require.NoError(t, err)

	f.clock.Advance(time.Hour + 123456*time.Microsecond)

	_, err = f.journal.Append(f.ctx, "c")
	require.NoError(t, err)

	for i, record := range f.all(t, 3) {
		want := first
		if i == 2 {
			want = f.clock.Now()
		}

		require.WithinDuration(t, want, record.At, time.Microsecond)
	}
}

func entriesComeBack(t *testing.T, f *journalFixture) {
	entries := []string{"", "\n", "two\nlines\r\n", `"quoted" \ {"seq":7}`, "<script>&</script>", "\u2028 \u00e9 e\u0301 \U0001F600", "\x01\x1f\x7f",
		strings.Repeat("a long line, ", 20_000), "after it"}

	for _, entry := range entries {
		_, err := f.journal.Append(f.ctx, entry)
		require.NoError(t, err)
	}

	_, err := f.journal.Append(f.ctx, entries...)
	require.NoError(t, err)

	for i, record := range f.all(t, 2*len(entries)) {
		require.Equal(t, entries[i%len(entries)], record.Entry)
	}

	n := 2 * len(entries)
	for record, err := range f.journal.Backward(f.ctx, 0) {
		require.NoError(t, err)

		n--
		require.Equal(t, entries[n%len(entries)], record.Entry)
	}

	require.Zero(t, n)
}

func cancelledCalls(t *testing.T, f *journalFixture) {
	_, err := f.journal.Append(f.ctx, "early")
	require.NoError(t, err)

	ctx, cancel := context.WithCancelCause(f.ctx)
	cancel(errEnough)

	_, err = f.journal.Append(ctx, "late")
	require.ErrorIs(t, err, errEnough)

	_, err = f.journal.Append(ctx)
	require.ErrorIs(t, err, errEnough)

	_, err = f.journal.Head(ctx)
	require.ErrorIs(t, err, errEnough)

	for _, err := range f.journal.Backward(ctx, 0) {
		require.ErrorIs(t, err, errEnough)
	}

	position, err := f.journal.Append(f.ctx, "next")
	require.NoError(t, err)
	require.EqualValues(t, 2, position)
}

const (
	writers   = 8
	batches   = 25
	batchSize = 3
)

// write appends batches from several concurrent writers and returns when all are appended.
func (f *journalFixture) write() error {
	var group errgroup.Group

	for writer := range writers {
		group.Go(func() error {
			var before journal.Position

			for batch := range batches {
				name := fmt.Sprintf("%d/%d", writer, batch)

				position, err := f.journal.Append(f.ctx, name, name, name)
				if err != nil {
					return fmt.Errorf("append: %w", err)
				}

				if position < before+batchSize {
					return fmt.Errorf("a batch ends at %d, and the writer's previous one at %d", position, before)
				}

				before = position
			}

			return nil
		})
	}

	return group.Wait()
}

func concurrentBatches(t *testing.T, f *journalFixture) {
	var group errgroup.Group

	group.Go(f.write)

	next := map[string]int{}
	current := ""

	for i, record := range f.all(t, writers*batches*batchSize) {
		require.EqualValues(t, i+1, record.Position)

		if i%batchSize == 0 {
			current = record.Entry
			writer, batch, _ := strings.Cut(current, "/")
			require.Equal(t, fmt.Sprint(next[writer]), batch, "a writer's batches keep their order")

			next[writer]++
		}

		require.Equal(t, current, record.Entry, "a batch stays together")
	}

	require.NoError(t, group.Wait())
}

func batchesAppearWhole(t *testing.T, f *journalFixture) {
	var group errgroup.Group

	group.Go(f.write)

	for head := journal.Position(0); head < writers*batches*batchSize; {
		var err error

		head, err = f.journal.Head(f.ctx)
		require.NoError(t, err)
		require.Zero(t, head%batchSize, "the head is the end of a batch")

		for record, err := range f.journal.Backward(f.ctx, 0) {
			require.NoError(t, err)
			require.Zero(t, record.Position%batchSize, "the newest record is the end of a batch")
			require.GreaterOrEqual(t, record.Position, head)

			break
		}
	}

	require.NoError(t, group.Wait())
}

func isMatch(entry string) bool { return strings.HasPrefix(entry, "match") }

func waitFindsEarlier(t *testing.T, f *journalFixture) {
	_, err := f.journal.Append(f.ctx, "a", "match 2", "b", "match 4")
	require.NoError(t, err)

	for after, want := range map[journal.Position]string{0: "match 2", 1: "match 2", 2: "match 4", 3: "match 4"} {
		record, err := journal.WaitFor(f.ctx, f.journal, after, isMatch)
		require.NoError(t, err)
		require.Equal(t, want, record.Entry)
		require.Equal(t, want, fmt.Sprintf("match %d", record.Position))
	}
}

func waitFindsLater(t *testing.T, f *journalFixture) {
	_, err := f.journal.Append(f.ctx, "match 1", "a")
	require.NoError(t, err)

	var group errgroup.Group

	group.Go(func() error {
		record, err := journal.WaitFor(f.ctx, f.journal, 1, isMatch)
		if err == nil && record.Position != 4 {
			err = fmt.Errorf("found record %d, %q", record.Position, record.Entry)
		}

		return err
	})

	for _, entry := range []string{"b", "match 4", "match 5"} {
		_, err := f.journal.Append(f.ctx, entry)
		require.NoError(t, err)
	}

	require.NoError(t, group.Wait())
}

func waitEndsWithCause(t *testing.T, f *journalFixture) {
	_, err := f.journal.Append(f.ctx, "a")
	require.NoError(t, err)

	ctx, cancel := context.WithCancelCause(f.ctx)

	// The match is called with the only record, so the wait has begun when it is cancelled.
	_, err = journal.WaitFor(ctx, f.journal, 0, func(string) bool {
		cancel(errEnough)

		return false
	})
	require.ErrorIs(t, err, errEnough)
}

func waitCancelledBefore(t *testing.T, f *journalFixture) {
	_, err := f.journal.Append(f.ctx, "match 1")
	require.NoError(t, err)

	ctx, cancel := context.WithCancelCause(f.ctx)
	cancel(errEnough)

	_, err = journal.WaitFor(ctx, f.journal, 0, isMatch)
	require.ErrorIs(t, err, errEnough)
}
