package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/journaltest"
)

// fileConfigs returns configurations that must make no difference to readers.
func fileConfigs() map[string]journal.FileConfig {
	return map[string]journal.FileConfig{
		"one segment":              {},
		"a segment for each batch": {SegmentBytes: 1, Sync: journal.SyncNever},
		"some batches a segment":   {SegmentBytes: 500, Sync: journal.SyncNever},
		"sync always":              {Sync: journal.SyncAlways},
	}
}

func openFile(t *testing.T, config journal.FileConfig) *journal.File[string] {
	t.Helper()

	if config.Dir == "" {
		config.Dir = t.TempDir()
	}

	file, err := journal.OpenFile[string](config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, file.Close()) })

	return file
}

func add(t *testing.T, file *journal.File[string], entries ...string) {
	t.Helper()

	_, err := file.Append(t.Context(), entries...)
	require.NoError(t, err)
}

// entries returns the entries of a journal after a position.
func entries(t *testing.T, file *journal.File[string], after journal.Position) []string {
	t.Helper()

	head, err := file.Head(t.Context())
	require.NoError(t, err)

	var found []string

	if head == after {
		return found
	}

	for record, err := range file.Tail(t.Context(), after) {
		require.NoError(t, err)

		after++
		require.Equal(t, after, record.Position)

		if found = append(found, record.Entry); after == head {
			break
		}
	}

	return found
}

func TestFileConforms(t *testing.T) {
	t.Parallel()

	for name, config := range fileConfigs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			journaltest.Reader(t, func(t *testing.T) (journal.Reader[string], journaltest.Append) {
				file := openFile(t, config)

				return file, func(ctx context.Context, entries ...string) error {
					_, err := file.Append(ctx, entries...)

					return err
				}
			})

			journaltest.Journal(t, func(t *testing.T, clock clockwork.Clock) journal.Journal[string] {
				config := config
				config.Clock = clock

				return openFile(t, config)
			})
		})
	}
}

func TestTrimmedFileConforms(t *testing.T) {
	t.Parallel()

	for name, config := range fileConfigs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			journaltest.Trimmed(t, func(t *testing.T) (journal.Reader[string], journaltest.Append, journaltest.Trim) {
				file := openFile(t, config)

				return file, func(ctx context.Context, entries ...string) error {
						_, err := file.Append(ctx, entries...)

						return err
					}, func(ctx context.Context) error {
						head, err := file.Head(ctx)
						if err != nil {
							return err
						}

						return file.Trim(ctx, head)
					}
			})
		})
	}
}

func TestFileContinuesAfterReopening(t *testing.T) {
	t.Parallel()

	for name, config := range fileConfigs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			clock := clockwork.NewFakeClock()
			config := config
			config.Dir, config.Clock = filepath.Join(t.TempDir(), "new", "directory"), clock
			written := clock.Now()

			var want []string

			for round := range 4 {
				file, err := journal.OpenFile[string](config)
				require.NoError(t, err)
				require.Zero(t, file.Recovery())
				require.Equal(t, want, entries(t, file, 0))

				for record, err := range file.Backward(t.Context(), 4) {
					require.NoError(t, err)
					require.WithinDuration(t, written, record.At, 0, "records keep their time")
				}

				for batch := range 3 {
					name := fmt.Sprintf("%d/%d", round, batch)
					want = append(want, name, name+" b")
					add(t, file, name, name+" b")
				}

				clock.Advance(time.Hour)
				require.NoError(t, file.Close())
			}
		})
	}
}

func TestClosedFileRefusesEverythingWithoutChange(t *testing.T) {
	t.Parallel()

	config := journal.FileConfig{Dir: t.TempDir()}
	file := openFile(t, config)
	add(t, file, "a")

	reached := make(chan struct{})

	var group errgroup.Group

	group.Go(func() error {
		for _, err := range file.Tail(t.Context(), 0) {
			if err != nil {
				return err
			}

			close(reached)
		}

		return nil
	})

	<-reached
	require.NoError(t, file.Close())
	require.NoError(t, file.Close(), "closing again does nothing")
	require.ErrorIs(t, group.Wait(), journal.ErrClosed, "a tail that waits ends")

	_, err := file.Append(t.Context(), "late")
	require.ErrorIs(t, err, journal.ErrClosed)
	_, err = file.Append(t.Context())
	require.ErrorIs(t, err, journal.ErrClosed)
	_, err = file.Head(t.Context())
	require.ErrorIs(t, err, journal.ErrClosed)
	require.ErrorIs(t, file.Trim(t.Context(), 1), journal.ErrClosed)

	for _, err := range file.Backward(t.Context(), 0) {
		require.ErrorIs(t, err, journal.ErrClosed)
	}

	require.Equal(t, []string{"a"}, entries(t, openFile(t, config), 0))
}

func TestFileIsOpenOnce(t *testing.T) {
	t.Parallel()

	config := journal.FileConfig{Dir: t.TempDir()}
	first := openFile(t, config)

	_, err := journal.OpenFile[string](config)
	require.ErrorContains(t, err, fmt.Sprintf("open the journal in %s: it is already open in process %d", config.Dir, os.Getpid()))

	add(t, first, "a")
	require.NoError(t, first.Close())

	require.Equal(t, []string{"a"}, entries(t, openFile(t, config), 0))
}

func TestFileConfigurationIsChecked(t *testing.T) {
	t.Parallel()

	for _, config := range []journal.FileConfig{{}, {Dir: "x", Sync: 7}, {Dir: "x", SyncEvery: -1}, {Dir: "x", SegmentBytes: -1}, {Dir: "x", KeepSegments: -1}} {
		_, err := journal.OpenFile[string](config)
		require.Error(t, err)
	}

	require.NoDirExists(t, "x")

	path := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(path, nil, 0o600))

	_, err := journal.OpenFile[string](journal.FileConfig{Dir: path})
	require.ErrorContains(t, err, path)
}

func TestFileRefusesEntriesThatCannotBeEncoded(t *testing.T) {
	t.Parallel()

	file, err := journal.OpenFile[any](journal.FileConfig{Dir: t.TempDir()})
	require.NoError(t, err)

	defer file.Close()

	_, err = file.Append(t.Context(), "good", func() {})
	require.ErrorContains(t, err, "encode a journal entry")

	position, err := file.Append(t.Context(), map[string]any{"n": 1})
	require.NoError(t, err)
	require.EqualValues(t, 1, position)
}

func TestFileKeepsConfiguredNumberOfSegments(t *testing.T) {
	t.Parallel()

	config := journal.FileConfig{Dir: t.TempDir(), SegmentBytes: 1, KeepSegments: 3, Sync: journal.SyncNever}
	file := openFile(t, config)

	for i := range 10 {
		add(t, file, fmt.Sprint(i+1))
	}

	require.Len(t, segments(t, config.Dir), 3)
	require.Equal(t, []string{"8", "9", "10"}, entries(t, file, 7))

	check := func(file *journal.File[string], first journal.Position) {
		_, err := journal.WaitFor(t.Context(), file, first-2, func(string) bool { return true })

		var trimmed *journal.TrimmedError

		require.ErrorAs(t, err, &trimmed)
		require.Equal(t, first, trimmed.First)
	}

	check(file, 8)
	require.NoError(t, file.Close())

	config.KeepSegments = 2
	file = openFile(t, config)
	check(file, 9)
	require.Len(t, segments(t, config.Dir), 2, "a smaller limit holds from the next open on")
	require.Equal(t, []string{"9", "10"}, entries(t, file, 8))
}

func TestFileTrimDropsWholeSegments(t *testing.T) {
	t.Parallel()

	file := openFile(t, journal.FileConfig{SegmentBytes: 300, Sync: journal.SyncNever})

	for i := range 50 {
		add(t, file, fmt.Sprint(i+1))
	}

	for through := range journal.Position(50) {
		require.NoError(t, file.Trim(t.Context(), through))

		first := journal.Position(51)
		for record, err := range file.Backward(t.Context(), 0) {
			require.NoError(t, err)

			first--
			require.Equal(t, first, record.Position)
		}

		require.LessOrEqual(t, first, through+1, "nothing after the position is dropped")
		require.Greater(t, first, through-10, "not much more than a segment stays")
	}

	require.NoError(t, file.Trim(t.Context(), 1000))
	add(t, file, "51")
	require.Equal(t, []string{"51"}, entries(t, file, 50))
}

// A tail that reads an old segment keeps reading it when it is dropped, and gets an error at the next one.
func TestTailInDroppedSegmentGetsTrimmedError(t *testing.T) {
	t.Parallel()

	file := openFile(t, journal.FileConfig{SegmentBytes: 300, KeepSegments: 2, Sync: journal.SyncNever})
	add(t, file, "1", "2", "3")

	seen := journal.Position(0)

	var last error

	for record, err := range file.Tail(t.Context(), 0) {
		if last = err; err != nil {
			break
		}

		if seen++; seen == 1 {
			for i := 4; i < 40; i++ {
				add(t, file, strings.Repeat(fmt.Sprint(i), 100))
			}
		}

		require.Equal(t, seen, record.Position)
	}

	var trimmed *journal.TrimmedError

	require.ErrorAs(t, last, &trimmed)
	require.Greater(t, trimmed.First, seen+1)
}

func segments(t *testing.T, dir string) []string {
	t.Helper()

	found, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	require.NoError(t, err)

	return found
}
