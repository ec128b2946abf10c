package journal_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
)

// onSegments calls the function on every fsync of a segment, but not of a directory.
func onSegments(config journal.FileConfig, f func() error) journal.FileConfig {
	return config.WithSync(func(file *os.File) error {
		if filepath.Ext(file.Name()) != ".ndjson" {
			return file.Sync()
		}

		if err := f(); err != nil {
			return err
		}

		return file.Sync()
	})
}

func TestFileSyncsByItsPolicy(t *testing.T) {
	t.Parallel()

	for policy, want := range map[journal.Sync][3]int64{
		// after two appends, after the interval, after Close
		journal.SyncAlways: {2, 2, 3}, journal.SyncInterval: {0, 1, 2}, journal.SyncNever: {0, 0, 1},
	} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var syncs atomic.Int64

				file := openFile(t, onSegments(journal.FileConfig{Sync: policy, Clock: clockwork.NewRealClock()}, func() error {
					syncs.Add(1)

					return nil
				}))

				add(t, file, "a")
				add(t, file, "b")
				require.Equal(t, want[0], syncs.Load())

				time.Sleep(journal.DefaultSyncEvery) //nolint:forbidigo // the time of a synctest bubble
				synctest.Wait()
				require.Equal(t, want[1], syncs.Load())

				time.Sleep(time.Hour) //nolint:forbidigo // the time of a synctest bubble
				require.Equal(t, want[1], syncs.Load(), "nothing new needs no sync")
				require.NoError(t, file.Close())
				require.Equal(t, want[2], syncs.Load())
			})
		})
	}
}

func TestFailedSyncEndsAppending(t *testing.T) {
	t.Parallel()

	errDisk := errors.New("the disk is broken")

	for policy, appended := range map[journal.Sync]int{journal.SyncAlways: 1, journal.SyncInterval: 2} {
		t.Run(fmt.Sprint(policy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var broken atomic.Bool

				file := openFile(t, onSegments(journal.FileConfig{Sync: policy}, func() error {
					if broken.Load() {
						return errDisk
					}

					return nil
				}))

				add(t, file, "a")
				time.Sleep(time.Second) //nolint:forbidigo // the time of a synctest bubble
				broken.Store(true)

				_, err := file.Append(t.Context(), "b")
				require.Equal(t, policy == journal.SyncAlways, errors.Is(err, errDisk))

				time.Sleep(time.Second) //nolint:forbidigo // the time of a synctest bubble
				broken.Store(false)

				_, err = file.Append(t.Context(), "c")
				require.ErrorIs(t, err, errDisk)
				require.ErrorContains(t, err, "must be opened again")
				require.Len(t, entries(t, file, 0), appended, "what was acknowledged can be read")
			})
		})
	}
}

// Appends that wait for the disk together are written together; none is visible before it is on disk.
func TestWaitingAppendsShareAWriteAndAreVisibleOnlyWhenSynced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var syncs atomic.Int64

		gate := make(chan struct{})
		file := openFile(t, onSegments(journal.FileConfig{Sync: journal.SyncAlways}, func() error {
			syncs.Add(1)
			<-gate

			return nil
		}))

		var group errgroup.Group

		group.Go(func() error {
			_, err := file.Append(t.Context(), "first")

			return err
		})
		synctest.Wait()

		for range 10 {
			group.Go(func() error {
				_, err := file.Append(t.Context(), "a", "b")

				return err
			})
		}

		ctx, cancel := context.WithCancel(t.Context())
		cancelled := make(chan error, 1)

		go func() { // ends with the cancellation
			_, err := file.Append(ctx, "withdrawn")
			cancelled <- err
		}()

		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-cancelled, context.Canceled)

		head, err := file.Head(t.Context())
		require.NoError(t, err)
		require.Zero(t, head, "nothing has reached the disk")

		close(gate)
		require.NoError(t, group.Wait())
		require.EqualValues(t, 2, syncs.Load())
		require.Len(t, entries(t, file, 0), 21)
	})
}
