package pgjournal_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/journaltest"
	"tarsy.dev/tarsy/flow/journal/pgjournal"
	"tarsy.dev/tarsy/internal/kit/slowness"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
)

// newPool connects as one process would.
func newPool(t *testing.T, url string) *pgxpool.Pool {
	t.Helper()

	config, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)

	config.MaxConns = 5

	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return pool
}

// database returns the address of a database that contains only the tables of this package.
func database(t *testing.T) string {
	t.Helper()

	url := pgtest.Empty(t)
	require.NoError(t, pgjournal.Migrate(t.Context(), newPool(t, url)))

	return url
}

func open(t *testing.T, config pgjournal.Config) *pgjournal.Journal[string] {
	t.Helper()

	if config.Name == "" {
		config.Name = "test"
	}

	j, err := pgjournal.Open[string](t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })

	return j
}

// names generates a name for each journal of a suite, all in one database.
type names struct{ last atomic.Int64 }

func (n *names) next() string { return fmt.Sprintf("journal %d", n.last.Add(1)) }

func TestJournalConforms(t *testing.T) {
	t.Parallel()

	url := database(t)
	writerPool, readerPool := newPool(t, url), newPool(t, url)

	var name names

	// The reader is in the writer's process in one suite, and in another process in the other.
	for where, pool := range map[string]*pgxpool.Pool{"same process": nil, "another process": readerPool} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()

			both := func(t *testing.T) (reader, writer *pgjournal.Journal[string]) {
				t.Helper()

				config := pgjournal.Config{Pool: writerPool, Name: name.next()}
				writer = open(t, config)
				reader = writer

				if pool != nil {
					config.Pool = pool
					reader = open(t, config)
				}

				return reader, writer
			}

			journaltest.Reader(t, func(t *testing.T) (journal.Reader[string], journaltest.Append) {
				reader, writer := both(t)

				return reader, func(ctx context.Context, entries ...string) error {
					_, err := writer.Append(ctx, entries...)

					return err
				}
			})

			journaltest.Trimmed(t, func(t *testing.T) (journal.Reader[string], journaltest.Append, journaltest.Trim) {
				reader, writer := both(t)

				return reader, func(ctx context.Context, entries ...string) error {
						_, err := writer.Append(ctx, entries...)

						return err
					}, func(ctx context.Context) error {
						head, err := writer.Head(ctx)
						if err != nil {
							return err
						}

						return writer.Trim(ctx, head)
					}
			})
		})
	}

	t.Run("append", func(t *testing.T) {
		t.Parallel()
		journaltest.Journal(t, func(t *testing.T, clock clockwork.Clock) journal.Journal[string] {
			return open(t, pgjournal.Config{Pool: writerPool, Name: name.next(), Clock: clock})
		})
	})
}

func TestMigrateByManyAtOnceCreatesTablesOnce(t *testing.T) {
	t.Parallel()

	url := pgtest.Empty(t)
	pool := newPool(t, url)

	_, err := pgjournal.Open[string](t.Context(), pgjournal.Config{Pool: pool, Name: "early"})
	require.ErrorContains(t, err, "call pgjournal.Migrate first")

	var group errgroup.Group
	for range 5 {
		group.Go(func() error { return pgjournal.Migrate(t.Context(), pool) })
	}

	require.NoError(t, group.Wait())
	require.NoError(t, pgjournal.Migrate(t.Context(), pool))

	j := open(t, pgjournal.Config{Pool: pool})
	_, err = j.Append(t.Context(), "a")
	require.NoError(t, err)
}

func TestConfigurationIsChecked(t *testing.T) {
	t.Parallel()

	pool := newPool(t, pgtest.Empty(t))

	for _, config := range []pgjournal.Config{{}, {Pool: pool}, {Name: "a"}, {Pool: pool, Name: "a", Lease: -1}, {Pool: pool, Name: "a", PollEvery: -1}} {
		_, err := pgjournal.Open[string](t.Context(), config)
		require.Error(t, err)
	}
}

func TestJournalsInOneDatabaseAreIndependent(t *testing.T) {
	t.Parallel()

	pool := newPool(t, database(t))
	a, b := open(t, pgjournal.Config{Pool: pool, Name: "a"}), open(t, pgjournal.Config{Pool: pool, Name: "b"})

	for n := range 5 {
		for _, j := range []*pgjournal.Journal[string]{a, b} {
			position, err := j.Append(t.Context(), "x")
			require.NoError(t, err)
			require.EqualValues(t, n+1, position)
		}
	}

	require.NoError(t, a.Trim(t.Context(), 5))

	_, err := journal.WaitFor(t.Context(), b, 0, func(string) bool { return true })
	require.NoError(t, err)
}

func TestTrimIsExact(t *testing.T) {
	t.Parallel()

	j := open(t, pgjournal.Config{Pool: newPool(t, database(t))})
	_, err := j.Append(t.Context(), "1", "2", "3", "4")
	require.NoError(t, err)
	require.NoError(t, j.Trim(t.Context(), 2))
	require.NoError(t, j.Trim(t.Context(), 1))
	require.NoError(t, j.Trim(t.Context(), -1))

	var left []string

	for record, err := range j.Backward(t.Context(), 0) {
		require.NoError(t, err)

		left = append(left, record.Entry)
	}

	require.Equal(t, []string{"4", "3"}, left)
}

func TestAppendTxIsNumberedAfterItsCommit(t *testing.T) {
	t.Parallel()

	url := database(t)
	pool := newPool(t, url)
	j := open(t, pgjournal.Config{Pool: pool})

	tx, err := newPool(t, url).Begin(t.Context())
	require.NoError(t, err)

	first, err := j.AppendTx(t.Context(), tx, "tx 1", "tx 2")
	require.NoError(t, err)
	second, err := j.AppendTx(t.Context(), tx, "tx 3")
	require.NoError(t, err)

	position, err := j.Append(t.Context(), "meanwhile")
	require.NoError(t, err)
	require.EqualValues(t, 1, position, "what is not committed has no number, and holds nobody up")

	require.NoError(t, tx.Commit(t.Context()))

	position, err = second.Wait(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 4, position)

	position, err = first.Wait(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 3, position, "a transaction's batches keep their order")
}

func TestAppendTxThatIsRolledBackLeavesNothing(t *testing.T) {
	t.Parallel()

	pool := newPool(t, database(t))
	j := open(t, pgjournal.Config{Pool: pool})

	var pending *pgjournal.Pending

	errRefused := errors.New("refused")
	err := pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
		pending, err = j.AppendTx(t.Context(), tx, "never")

		return errors.Join(errRefused, err)
	})
	require.ErrorIs(t, err, errRefused)

	_, err = pending.Wait(t.Context())
	require.ErrorContains(t, err, "rolled back")

	position, err := j.Append(t.Context(), "a")
	require.NoError(t, err)
	require.EqualValues(t, 1, position)
}

// Without a notification, the poll finds the batch.
func TestPollFindsUnannouncedBatch(t *testing.T) {
	t.Parallel()

	url := database(t)
	reader := open(t, pgjournal.Config{Pool: newPool(t, url), PollEvery: 50 * time.Millisecond})

	pool := newPool(t, url)
	writer := open(t, pgjournal.Config{Pool: pool})

	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) error {
		_, err := writer.AppendTx(t.Context(), tx, "silent")

		return err
	}))
	require.NoError(t, writer.Close())

	record, err := journal.WaitFor(t.Context(), reader, 0, func(string) bool { return true })
	require.NoError(t, err)
	require.Equal(t, "silent", record.Entry)
}

func TestEntryThatPostgreSQLCannotStoreIsRefused(t *testing.T) {
	t.Parallel()

	j := open(t, pgjournal.Config{Pool: newPool(t, database(t))})

	_, err := j.Append(t.Context(), "good", "NUL \x00")
	require.ErrorContains(t, err, "append to the journal")

	position, err := j.Append(t.Context(), "good")
	require.NoError(t, err)
	require.EqualValues(t, 1, position)
}

func TestClosedJournalRefusesEverything(t *testing.T) {
	t.Parallel()

	pool := newPool(t, database(t))
	j := open(t, pgjournal.Config{Pool: pool})
	_, err := j.Append(t.Context(), "a")
	require.NoError(t, err)

	reached := make(chan struct{})

	var group errgroup.Group

	group.Go(func() error {
		for _, err := range j.Tail(t.Context(), 0) {
			if err != nil {
				return err
			}

			close(reached)
		}

		return nil
	})

	<-reached
	require.NoError(t, j.Close())
	require.NoError(t, j.Close())
	require.ErrorIs(t, group.Wait(), journal.ErrClosed)

	_, err = j.Append(t.Context(), "b")
	require.ErrorIs(t, err, journal.ErrClosed)
	_, err = j.Head(t.Context())
	require.ErrorIs(t, err, journal.ErrClosed)

	position, err := open(t, pgjournal.Config{Pool: pool}).Append(t.Context(), "c")
	require.NoError(t, err)
	require.EqualValues(t, 2, position)
}

// Without polls, everything depends on notifications: to the sequencer that there is work, and from it that there are numbers.
func TestNotificationsAloneWakeSequencerWriterAndReader(t *testing.T) {
	t.Parallel()

	url := database(t)
	config := pgjournal.Config{Lease: time.Hour, PollEvery: time.Hour}

	var journals []*pgjournal.Journal[string]

	for range 3 {
		config.Pool = newPool(t, url)
		journals = append(journals, open(t, config))
	}

	ctx, cancel := context.WithTimeoutCause(t.Context(), slowness.Scale(time.Minute), errors.New("a notification was lost"))
	defer cancel()

	var group errgroup.Group

	group.Go(func() error {
		_, err := journal.WaitFor(ctx, journals[2], 0, func(entry string) bool { return entry == "last" })

		return err
	})

	for n, entry := range []string{"a", "b", "c", "d", "last"} {
		position, err := journals[min(n, 1)].Append(ctx, entry)
		require.NoError(t, err)
		require.EqualValues(t, n+1, position)
	}

	require.NoError(t, group.Wait())
}

// Batches are numbered a few at a time, but never in part.
func TestLargeBatchesAreNumberedWhole(t *testing.T) {
	t.Parallel()

	const batches, entries = 4, 700

	pool := newPool(t, database(t))
	j := open(t, pgjournal.Config{Pool: pool})

	var last *pgjournal.Pending

	require.NoError(t, pgx.BeginFunc(t.Context(), pool, func(tx pgx.Tx) (err error) {
		for range batches {
			if last, err = j.AppendTx(t.Context(), tx, make([]string, entries)...); err != nil {
				return err
			}
		}

		return nil
	}))

	last.Wake()

	for head := journal.Position(0); head < batches*entries; {
		var err error

		head, err = j.Head(t.Context())
		require.NoError(t, err)
		require.Zero(t, head%entries)
	}
}
