//go:build bench

package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/pgjournal"
)

// TestJournals compares the journals with each other and with loops that do the minimum: a write and an fsync per entry, or
// a one-row transaction.
func TestJournals(t *testing.T) {
	fmt.Printf("\n%-62s %10s   %s\n", "appends per second, one entry of 200 bytes each", "measured", "for comparison")

	memory := appends(t, 1, journal.NewMemory[string](clockwork.NewRealClock()).Append)
	showAppends("memory, 1 writer", memory, "")
	showAppends("memory, 16 writers", appends(t, workers, journal.NewMemory[string](clockwork.NewRealClock()).Append), "")

	files(t, memory)
	tables(t, memory)
}

func showAppends(what string, rate float64, note string) {
	fmt.Printf("%-62s %10.0f   %s\n", what, rate, note)
}

// appends returns how many entries per second the writers append in two seconds, each waiting for its own append.
func appends(t *testing.T, writers int, appendOne func(context.Context, ...string) (journal.Position, error)) float64 {
	t.Helper()

	const lasting = 2 * time.Second

	var (
		group errgroup.Group
		count atomic.Int64
		entry = summary[:200]
		began = time.Now()
	)

	for range writers {
		group.Go(func() error {
			for time.Since(began) < lasting {
				if _, err := appendOne(t.Context(), entry); err != nil {
					return err
				}

				count.Add(1)
			}

			return nil
		})
	}

	require.NoError(t, group.Wait())

	return float64(count.Load()) / time.Since(began).Seconds()
}

func files(t *testing.T, memory float64) {
	t.Helper()

	bare := map[bool]float64{}

	for _, sync := range []bool{false, true} {
		file, err := os.Create(filepath.Join(t.TempDir(), "bare"))
		require.NoError(t, err)

		bare[sync] = appends(t, 1, func(_ context.Context, entries ...string) (journal.Position, error) {
			_, err := file.WriteString(entries[0] + "\n")
			if err == nil && sync {
				err = file.Sync()
			}

			return 0, err
		})

		require.NoError(t, file.Close())
		showAppends(fmt.Sprintf("a bare loop of writes, fsync after each: %v", sync), bare[sync], fmt.Sprintf("%.3f of memory", bare[sync]/memory))
	}

	for _, policy := range []struct {
		name string
		sync journal.Sync
	}{{"never", journal.SyncNever}, {"interval", journal.SyncInterval}, {"always", journal.SyncAlways}} {
		for _, writers := range []int{1, workers} {
			file, err := journal.OpenFile[string](journal.FileConfig{Dir: t.TempDir(), Sync: policy.sync})
			require.NoError(t, err)

			rate, plain := appends(t, writers, file.Append), bare[policy.sync == journal.SyncAlways]
			require.NoError(t, file.Close())
			showAppends(fmt.Sprintf("file, sync %s, %d writers", policy.name, writers), rate,
				fmt.Sprintf("%.2f of the bare loop, %.3f of memory", rate/plain, rate/memory))
		}
	}
}

func tables(t *testing.T, memory float64) {
	t.Helper()

	url := fresh(t, durableServer(t), "journals")

	pool, err := pgxpool.New(t.Context(), fmt.Sprintf("%s&pool_max_conns=%d", url, workers+4))
	require.NoError(t, err)

	defer pool.Close()

	_, err = pool.Exec(t.Context(), `CREATE TABLE rows (id bigserial PRIMARY KEY, entry text)`)
	require.NoError(t, err)
	require.NoError(t, pgjournal.Migrate(t.Context(), pool))

	for _, writers := range []int{1, workers} {
		bare := appends(t, writers, func(ctx context.Context, entries ...string) (journal.Position, error) {
			_, err := pool.Exec(ctx, `INSERT INTO rows (entry) VALUES ($1)`, entries[0])

			return 0, err
		})
		showAppends(fmt.Sprintf("bare one-row transactions, %d writers", writers), bare, "")

		j, err := pgjournal.Open[string](t.Context(), pgjournal.Config{Pool: pool, Name: fmt.Sprint(writers)})
		require.NoError(t, err)

		rate := appends(t, writers, j.Append)
		require.NoError(t, j.Close())
		showAppends(fmt.Sprintf("PostgreSQL, %d writers", writers), rate, fmt.Sprintf("%.2f of the bare transactions, %.4f of memory", rate/bare, rate/memory))
	}
}
