package pgjournal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/pgjournal"
	"tarsy.dev/tarsy/internal/kit/slowness"
)

const size = 3

// appendBatches appends batches of equal entries, and calls done after each.
func appendBatches(ctx context.Context, j *pgjournal.Journal[string], name string, n int, done func(journal.Position, string)) error {
	for i := range n {
		entry := fmt.Sprintf("%s/%d", name, i)

		position, err := j.Append(ctx, entry, entry, entry)
		if err != nil {
			return fmt.Errorf("append %s: %w", entry, err)
		}

		done(position, entry)
	}

	return nil
}

// checkBatches checks that the journal has n records: without gaps, each batch contiguous, each writer's batches in order.
func checkBatches(t *testing.T, j *pgjournal.Journal[string], n int) []string {
	t.Helper()

	ctx, cancel := context.WithTimeoutCause(t.Context(), slowness.Scale(time.Minute), errors.New("records are missing"))
	defer cancel()

	var entries []string

	next := map[string]int{}

	for record, err := range j.Tail(ctx, 0) {
		require.NoError(t, err)

		if entries = append(entries, record.Entry); len(entries)%size == 1 {
			at := strings.LastIndex(record.Entry, "/")
			writer := record.Entry[:at]
			require.Equal(t, fmt.Sprint(next[writer]), record.Entry[at+1:])

			next[writer]++
		} else {
			require.Equal(t, entries[len(entries)-2], record.Entry)
		}

		require.EqualValues(t, len(entries), record.Position)

		if len(entries) == n {
			break
		}
	}

	return entries
}

func nothing(journal.Position, string) {}

// fence returns how often the lease was taken, and its last holder.
func fence(t *testing.T, pool *pgxpool.Pool) (fence int64, holder string) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT fence, holder FROM pgjournal_journals`).Scan(&fence, &holder))

	return fence, holder
}

func TestManyWritersInManyProcessesAreNumberedWithoutGap(t *testing.T) {
	t.Parallel()

	const processes, writers, batches = 3, 4, 20

	url := database(t)

	var (
		group errgroup.Group
		last  *pgjournal.Journal[string]
	)

	for process := range processes {
		last = open(t, pgjournal.Config{Pool: newPool(t, url)})

		for writer := range writers {
			j := last

			group.Go(func() error {
				return appendBatches(t.Context(), j, fmt.Sprintf("%d/%d", process, writer), batches, nothing)
			})
		}
	}

	checkBatches(t, last, processes*writers*batches*size)
	require.NoError(t, group.Wait())
}

// The connections of the sequencer are cut repeatedly, whatever they are doing. An append whose connection broke has an unknown
// outcome, so its writer checks before it retries.
func TestNumberingSurvivesCutConnections(t *testing.T) {
	t.Parallel()

	const cuts = 15

	url := database(t)
	admin := newPool(t, url)
	victim := open(t, pgjournal.Config{Pool: namedPool(t, url, "victim"), Lease: 500 * time.Millisecond, PollEvery: 100 * time.Millisecond})
	other := open(t, pgjournal.Config{Pool: newPool(t, url), Lease: 500 * time.Millisecond, PollEvery: 100 * time.Millisecond})

	// Only the other process appends, and the victim is the sequencer whenever possible.
	_, err := victim.Append(t.Context(), "start/0", "start/0", "start/0")
	require.NoError(t, err)

	for i := range cuts {
		_, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'victim' AND datname = current_database()`)
		require.NoError(t, err)

		entry := fmt.Sprintf("other/%d", i)
		position, err := other.Append(t.Context(), entry, entry, entry)
		require.NoError(t, err)
		require.EqualValues(t, (i+2)*size, position)
	}

	checkBatches(t, victim, (cuts+1)*size)
}

// The server closes all connections of the reader's pool while they are idle, and no new one is opened before the read.
func TestReadingSurvivesClosedConnections(t *testing.T) {
	t.Parallel()

	url := database(t)
	admin := newPool(t, url)
	writer := open(t, pgjournal.Config{Pool: newPool(t, url)})
	pool := namedPool(t, url, "reader")
	reader := open(t, pgjournal.Config{Pool: pool})

	_, err := writer.Append(t.Context(), "start/0", "start/0", "start/0")
	require.NoError(t, err)

	for range 5 {
		var idle []*pgxpool.Conn

		for range 3 {
			conn, err := pool.Acquire(t.Context())
			require.NoError(t, err)

			idle = append(idle, conn)
		}

		for _, conn := range idle {
			conn.Release()
		}

		_, err := admin.Exec(t.Context(), `SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'reader' AND datname = current_database()`)
		require.NoError(t, err)

		checkBatches(t, reader, size)
	}
}

func namedPool(t *testing.T, url, name string) *pgxpool.Pool {
	t.Helper()

	config, err := pgxpool.ParseConfig(url)
	require.NoError(t, err)

	config.ConnConfig.RuntimeParams["application_name"] = name

	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	t.Cleanup(pool.Close)

	return pool
}

// Two processes keep taking the lease from each other, and at times both believe that they hold it.
func TestLeaseTakeoverUnderLoadLeavesNoGap(t *testing.T) {
	t.Parallel()

	url := database(t)
	admin := newPool(t, url)
	a := open(t, pgjournal.Config{Pool: newPool(t, url), Lease: time.Hour})
	b := open(t, pgjournal.Config{Pool: newPool(t, url), Lease: time.Hour})

	var group errgroup.Group

	group.Go(func() error { return appendBatches(t.Context(), a, "a", 40, nothing) })
	group.Go(func() error { return appendBatches(t.Context(), b, "b", 40, nothing) })

	// The lease is repeatedly ended under its holder.
	group.Go(func() error {
		for range 40 {
			if _, err := admin.Exec(t.Context(), `UPDATE pgjournal_journals SET lease_until = '-infinity'`); err != nil {
				return err
			}
		}

		return nil
	})

	checkBatches(t, b, 80*size)
	require.NoError(t, group.Wait())
}

func TestCloseReleasesLeaseImmediately(t *testing.T) {
	t.Parallel()

	url := database(t)
	first := open(t, pgjournal.Config{Pool: newPool(t, url), Lease: time.Hour})
	second := open(t, pgjournal.Config{Pool: newPool(t, url), Lease: time.Hour})

	_, err := first.Append(t.Context(), "a")
	require.NoError(t, err)
	require.NoError(t, first.Close())

	ctx, cancel := context.WithTimeout(t.Context(), slowness.Scale(time.Minute))
	defer cancel()

	position, err := second.Append(ctx, "b")
	require.NoError(t, err)
	require.EqualValues(t, 2, position)
}

// storeTracer calls a function when the database has confirmed that a batch is stored.
type storeTracer struct{ stored func() }

type storing struct{}

func (storeTracer) TraceQueryStart(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryStartData) context.Context {
	return context.WithValue(ctx, storing{}, strings.Contains(data.SQL, "INSERT INTO pgjournal_entries"))
}

func (t storeTracer) TraceQueryEnd(ctx context.Context, _ *pgx.Conn, data pgx.TraceQueryEndData) {
	if ctx.Value(storing{}) == true && data.Err == nil {
		t.stored()
	}
}

// endedByWait is a context that is cancelled by the first call of Done after begin.
type endedByWait struct {
	context.Context

	begun  atomic.Bool
	cancel context.CancelFunc
}

func (c *endedByWait) begin() { c.begun.Store(true) }

func (c *endedByWait) Done() <-chan struct{} {
	if c.begun.Load() {
		c.cancel()
	}

	return c.Context.Done()
}

// An append that is cancelled after its entries were stored reports that; they are numbered later.
func TestCancelledWaitReportsThatEntriesAreStored(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]func(ctx *endedByWait) (stored func()){
		"before it waits": func(ctx *endedByWait) func() { return ctx.cancel },
		"while it waits":  func(ctx *endedByWait) func() { return ctx.begin },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			url := database(t)
			admin := newPool(t, url)
			ctx := &endedByWait{}
			ctx.Context, ctx.cancel = context.WithCancel(t.Context())
			t.Cleanup(ctx.cancel)

			config, err := pgxpool.ParseConfig(url)
			require.NoError(t, err)

			config.ConnConfig.Tracer = storeTracer{stored: test(ctx)}
			pool, err := pgxpool.NewWithConfig(t.Context(), config)
			require.NoError(t, err)
			t.Cleanup(pool.Close)

			j := open(t, pgjournal.Config{Pool: pool})

			// The lock on the journal's row prevents all numbering.
			tx, err := admin.Begin(t.Context())
			require.NoError(t, err)
			t.Cleanup(func() { _ = tx.Rollback(context.Background()) })

			_, err = tx.Exec(t.Context(), `SELECT FROM pgjournal_journals FOR UPDATE`)
			require.NoError(t, err)

			_, err = j.Append(ctx, "a")
			require.ErrorIs(t, err, pgjournal.ErrNotNumbered)
			require.ErrorIs(t, err, context.Canceled)
			require.NoError(t, tx.Rollback(t.Context()))

			record, err := journal.WaitFor(t.Context(), j, 0, func(string) bool { return true })
			require.NoError(t, err)
			require.Equal(t, "a", record.Entry)
		})
	}
}

// A sequencer that does not know yet that it lost its lease numbers nothing, and asks the new holder to do it.
func TestSequencerWhoseLeaseWasTakenNumbersNothing(t *testing.T) {
	t.Parallel()

	url := database(t)
	admin := newPool(t, url)
	j := open(t, pgjournal.Config{Pool: newPool(t, url), Lease: time.Hour, PollEvery: time.Hour})

	_, err := j.Append(t.Context(), "a")
	require.NoError(t, err)

	listener, err := admin.Acquire(t.Context())
	require.NoError(t, err)
	defer listener.Release()

	_, err = listener.Exec(t.Context(), "LISTEN pgjournal")
	require.NoError(t, err)
	_, err = admin.Exec(t.Context(), `
		UPDATE pgjournal_journals SET holder = 'other', fence = fence + 1, lease_until = clock_timestamp() + interval '1 hour'`)
	require.NoError(t, err)

	ctx, cancel := context.WithTimeoutCause(t.Context(), slowness.Scale(time.Minute), errors.New("timed out"))
	defer cancel()

	type result struct {
		position journal.Position
		err      error
	}

	appended := make(chan result, 1)

	go func() { // ends with the context
		position, err := j.Append(ctx, "b")
		appended <- result{position, err}
	}()

	for asked, stored := false, false; !asked || !stored; {
		notification, err := listener.Conn().WaitForNotification(ctx)
		require.NoError(t, err)
		require.NotRegexp(t, "head .* 2", notification.Payload, "the entry was numbered")

		asked = asked || strings.HasPrefix(notification.Payload, "work ")
		require.NoError(t, admin.QueryRow(ctx, `SELECT EXISTS (SELECT FROM pgjournal_entries WHERE seq IS NULL)`).Scan(&stored))
	}

	require.Empty(t, appended)

	var head int

	require.NoError(t, admin.QueryRow(ctx, `SELECT head FROM pgjournal_journals`).Scan(&head))
	require.Equal(t, 1, head)

	// When the new holder hands the lease over, this process is the sequencer again.
	_, err = admin.Exec(ctx, `UPDATE pgjournal_journals SET lease_until = '-infinity'`)
	require.NoError(t, err)
	_, err = admin.Exec(ctx, `SELECT pg_notify('pgjournal', 'work ' || id) FROM pgjournal_journals`)
	require.NoError(t, err)
	require.Equal(t, result{position: 2}, <-appended)
}

const childLease = 2 * time.Second

func childConfig(pool *pgxpool.Pool) pgjournal.Config {
	return pgjournal.Config{Pool: pool, Name: "test", Lease: childLease, PollEvery: 200 * time.Millisecond}
}

// appendUntilKilled is a process that numbers and appends, and prints acknowledged entries.
func appendUntilKilled(url string) error {
	ctx := context.Background()

	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return err
	}

	j, err := pgjournal.Open[string](ctx, childConfig(pool))
	if err != nil {
		return err
	}

	var group errgroup.Group
	for writer := range 3 {
		group.Go(func() error {
			return appendBatches(ctx, j, fmt.Sprintf("%d-%d", os.Getpid(), writer), 1<<30, func(position journal.Position, entry string) {
				fmt.Printf("%d %s\n", position, entry)
			})
		})
	}

	return group.Wait()
}

// The sequencer is killed; another process takes over when its lease ends, and nothing acknowledged is lost.
func TestKilledSequencerIsReplacedWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()

	const kills = 3

	url := database(t)
	admin := newPool(t, url)
	acknowledged := map[journal.Position]string{}
	survivors := 0

	for range kills {
		pid := killAfter(t, url, 20, acknowledged)
		killed, holder := fence(t, admin)
		require.Contains(t, holder, fmt.Sprintf("/%d/", pid), "it was alone, so it was the sequencer")

		survivor := open(t, childConfig(newPool(t, url)))

		// The database may still be running the last message of the dead process, which is valid and can number a batch of ours.
		for now := killed; now == killed; now, holder = fence(t, admin) {
			entry := fmt.Sprintf("survivor/%d", survivors)
			position, err := survivor.Append(t.Context(), entry, entry, entry)
			require.NoError(t, err)

			acknowledged[position] = entry
			survivors++
		}

		require.Contains(t, holder, fmt.Sprintf("/%d/", os.Getpid()))
		require.NoError(t, survivor.Close())
	}

	survivor := open(t, childConfig(newPool(t, url)))
	head, err := survivor.Head(t.Context())
	require.NoError(t, err)

	entries := checkBatches(t, survivor, int(head))
	for position, entry := range acknowledged {
		require.Equal(t, entry, entries[position-1])
	}

	require.Greater(t, len(acknowledged), kills*20)
}

// killAfter runs a process until it has acknowledged the given number of appends, and kills it in the middle of the next ones.
func killAfter(t *testing.T, url string, appends int, acknowledged map[journal.Position]string) int {
	t.Helper()

	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), childVariable+"="+url)
	command.Stderr = os.Stderr

	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())

	lines := bufio.NewScanner(output)

	for n := 1; lines.Scan(); n++ {
		var (
			position journal.Position
			entry    string
		)

		if _, err := fmt.Sscan(lines.Text(), &position, &entry); err == nil {
			acknowledged[position] = entry
		}

		if n == appends {
			require.NoError(t, command.Process.Kill())
		}
	}

	require.ErrorContains(t, command.Wait(), "killed")

	return command.Process.Pid
}
