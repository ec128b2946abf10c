package postgres_test

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// listening starts a server under a name and returns when it receives the signals of others.
func (f *fixture) listening(t *testing.T, name string) *postgres.DB {
	t.Helper()

	db, err := postgres.Open(t.Context(), postgres.Config{URL: f.Named(t, name), Clock: f.Clock})
	require.NoError(t, err)
	t.Cleanup(db.Stop)

	// Watches from before the first LISTEN may have missed something, and are marked as behind.
	watch := db.Signals().WatchSessions(1)
	defer watch.Close()

	db.Start()
	awaitBehind(t, watch)

	return db
}

// awaitWake waits for a signal.
func awaitWake(t *testing.T, watch *postgres.Watch) {
	t.Helper()

	wait.For(t, watch.C, "a watcher to be woken")
}

// awaitChange waits until the watch reports the session at this version or a later one.
func awaitChange(t *testing.T, watch *postgres.Watch, id string, version int64) {
	t.Helper()

	for {
		awaitWake(t, watch)

		changes, _ := watch.Take()
		for _, c := range changes {
			if c.SessionID == id && c.Version >= version {
				return
			}
		}
	}
}

func TestCommitWakesWatchersOnEveryServer(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.listening(t, "a"), f.listening(t, "b")
	claim := f.Hold(t, a)

	var watches []*postgres.Watch
	for _, db := range []*postgres.DB{a, b} {
		watches = append(watches, db.Signals().WatchJournal(claim.SessionID), db.Signals().WatchSessions(10))
	}

	_, err := a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("event", 3)})
	require.NoError(t, err)

	for _, w := range watches {
		awaitChange(t, w, claim.SessionID, 3)
		w.Close()
	}
}

func TestIntakeAndRequestsWakeOtherServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.listening(t, "a"), f.listening(t, "b")

	queue, requests, feed := b.Signals().WatchQueue(), b.Signals().WatchRequests(), b.Signals().WatchSessions(10)
	defer queue.Close()
	defer requests.Close()
	defer feed.Close()

	awaitSignal := f.Listen(t) // the poll would also wake the queue's watchers
	session := f.Create(t, a, storetest.NewEvents("intake", 1)...)
	awaitChange(t, feed, session.ID, 1)
	awaitWake(t, queue)
	awaitSignal("queue")

	ok, err := storetest.AddRequest(a, t.Context(), storetest.NewRequest(session.ID, tarsy.RequestCancel, f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)
	awaitChange(t, requests, session.ID, 0)
}

func TestBroadcastReachesOnlyOtherServers(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b, c := f.listening(t, "a"), f.listening(t, "b"), f.listening(t, "c")

	heard := map[string]chan string{}

	for name, db := range map[string]*postgres.DB{"a": a, "b": b, "c": c} {
		messages := make(chan string, 100)
		heard[name] = messages
		stop := db.Signals().Receive("deltas", func(payload string) { messages <- payload })
		t.Cleanup(stop)
	}

	never := b.Signals().Receive("other", func(string) { panic("a message of another topic") })
	defer never()

	long := strings.Repeat("ä", 3000)
	a.Signals().Broadcast("deltas", "two\nlines")
	a.Signals().Broadcast("deltas", strings.Repeat("x", 9000)) // longer than a notification can be: only this one is lost
	a.Signals().Broadcast("deltas", long)

	for _, name := range []string{"b", "c"} {
		require.Equal(t, "two\nlines", <-heard[name])
		require.Equal(t, long, <-heard[name])
	}

	// An answer in the other direction; by then a would have received its own message.
	b.Signals().Broadcast("deltas", "answer")
	require.Equal(t, "answer", <-heard["a"])
	require.Equal(t, "answer", <-heard["c"])
	require.Empty(t, heard["a"])
	require.Empty(t, heard["b"])
}

// Receivers that rely on messages are notified when messages begin to arrive, and when they arrive again.
func TestListenerIsNotifiedAtStartAndAfterEveryBreak(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	b, err := postgres.Open(t.Context(), postgres.Config{URL: f.Named(t, "b"), Clock: f.Clock})
	require.NoError(t, err)
	t.Cleanup(b.Stop)

	heard := make(chan struct{}, 10)
	stop := b.Signals().OnListen(func() { heard <- struct{}{} })

	b.Start()
	<-heard

	storetest.Value[bool](t, f.Admin, `SELECT bool_and(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'b' AND query LIKE 'LISTEN%'`)
	<-heard
	stop()
}

func TestStoppedReceiverReceivesNothing(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.listening(t, "a"), f.listening(t, "b")

	stop := b.Signals().Receive("deltas", func(string) { panic("heard after stop") })
	stop()

	last := make(chan string, 1)
	defer b.Signals().Receive("deltas", func(s string) { last <- s })()

	a.Signals().Broadcast("deltas", "message")
	require.Equal(t, "message", <-last)
}

func TestLostListenConnectionOnlyDelays(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.listening(t, "a"), f.listening(t, "b")
	claim := f.Hold(t, a)

	journal, feed, requests := b.Signals().WatchJournal(claim.SessionID), b.Signals().WatchSessions(10), b.Signals().WatchRequests()
	defer journal.Close()
	defer feed.Close()
	defer requests.Close()

	require.True(t, storetest.Value[bool](t, f.Admin, `SELECT bool_and(pg_terminate_backend(pid)) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'b' AND query LIKE 'LISTEN%'`))
	f.Awaitf(t, func() bool {
		return storetest.Value[int](t, f.Admin, `SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'b' AND query LIKE 'LISTEN%'`) == 0
	}, "the connection to be gone")

	// b is not listening when this is sent.
	_, err := a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("event", 2)})
	require.NoError(t, err)

	awaitChange(t, journal, claim.SessionID, 2)
	awaitBehind(t, feed)
	awaitBehind(t, requests)

	// b listens again.
	f.Awaitf(t, func() bool {
		return storetest.Value[int](t, f.Admin, `SELECT count(*) FROM pg_stat_activity
WHERE datname = current_database() AND application_name = 'b' AND query LIKE 'LISTEN%' AND state = 'idle'`) == 1
	}, "b to listen again")

	_, err = a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("event", 1)})
	require.NoError(t, err)
	awaitChange(t, feed, claim.SessionID, 3)
}

func TestListenerReportsDatabaseOutageOnceAndItsEnd(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	proxy, address := newProxy(t, f)
	records := make(chan string, 100)

	db, err := postgres.Open(t.Context(), postgres.Config{URL: address, Clock: f.Clock, Logger: slog.New(recorded(records))})
	require.NoError(t, err)

	hears := make(chan struct{}, 10)
	stop := db.Signals().OnListen(func() { hears <- struct{}{} })

	db.Start()
	t.Cleanup(db.Stop)
	t.Cleanup(stop)
	<-hears

	restore := proxy.interrupt()
	f.Awaitf(t, func() bool { return storetest.Value[int](t, f.Admin, "SELECT 1") == 1 && proxy.refusals() >= 3 }, "the third attempt to listen")
	restore()
	<-hears

	require.Equal(t, "lost the LISTEN connection; reconnecting", <-records)
	require.Equal(t, "LISTEN connection restored", <-records)
	require.Empty(t, records)
}

// recorded is a handler that keeps the messages of the listener, because other parts log the outage too.
type recorded chan<- string

func (r recorded) Enabled(context.Context, slog.Level) bool { return true }

func (r recorded) Handle(_ context.Context, record slog.Record) error {
	if strings.Contains(record.Message, "LISTEN connection") {
		r <- record.Message
	}

	return nil
}

func (r recorded) WithAttrs([]slog.Attr) slog.Handler { return r }
func (r recorded) WithGroup(string) slog.Handler      { return r }

// awaitBehind waits until the watch is marked as behind.
func awaitBehind(t *testing.T, watch *postgres.Watch) {
	t.Helper()

	for {
		awaitWake(t, watch)

		if _, behind := watch.Take(); behind {
			return
		}
	}
}

func TestFailedNotificationOnlyDelays(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.listening(t, "a"), f.listening(t, "b")
	claim := f.Hold(t, a)

	journal := b.Signals().WatchJournal(claim.SessionID)
	defer journal.Close()

	_, err := f.Admin.Exec(t.Context(), `ALTER FUNCTION pg_catalog.pg_notify(text, text) RENAME TO pg_notify_taken_away`)
	require.NoError(t, err)
	_, err = f.Admin.Exec(t.Context(), `SELECT pg_notify('tarsy', '')`)
	require.ErrorContains(t, err, "does not exist")

	_, err = a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("event", 2)})
	require.NoError(t, err, "who cannot be told does not keep the work from being done")
	awaitChange(t, journal, claim.SessionID, 2)
}

func TestBadJournalNameDoesNotAffectPolling(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.listening(t, "a")
	session := f.Create(t, db)

	bad, good := db.Signals().WatchJournal("nonsense"), db.Signals().WatchJournal(session.ID)
	defer bad.Close()
	defer good.Close()

	// The poll finds a journal that has changed without a signal.
	f.Exec(t, `UPDATE sessions SET last_seq = 7 WHERE id = $1`, session.ID)
	awaitChange(t, good, session.ID, 7)
}

func TestWatchOverItsLimitIsMarkedBehind(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.listening(t, "a")

	feed := db.Signals().WatchSessions(2)
	defer feed.Close()

	first := f.Create(t, db, storetest.NewEvents("intake", 1)...)
	f.Create(t, db, storetest.NewEvents("intake", 1)...)

	changes, behind := feed.Take()
	require.Len(t, changes, 2)
	require.False(t, behind)

	for range 3 {
		f.Create(t, db, storetest.NewEvents("intake", 1)...)
	}

	changes, behind = feed.Take()
	require.Len(t, changes, 2)
	require.True(t, behind)

	changes, behind = feed.Take()
	require.Empty(t, changes)
	require.False(t, behind, "it is told once")

	claims := f.Claim(t, db, storetest.ServerA, 1)
	require.Equal(t, []string{first.ID}, sessionIDs(claims))

	holder := db.Hold(claims[0].Lease)
	for range 5 {
		_, err := holder.Commit(t.Context(), progress.Step{Events: storetest.NewEvents("event", 1)})
		require.NoError(t, err)
	}

	changes, behind = feed.Take()
	require.Equal(t, []postgres.Change{{SessionID: first.ID, Version: 6}}, changes, "changes of one session are one")
	require.False(t, behind)
}

func TestLastNotificationIsDelivered(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	a, b := f.listening(t, "a"), f.listening(t, "b")
	claim := f.Hold(t, a)

	feed := b.Signals().WatchSessions(10)
	defer feed.Close()

	_, err := a.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("last", 1)})
	require.NoError(t, err)
	a.Stop()

	awaitChange(t, feed, claim.SessionID, 1)
}

func TestStopLeavesNothingRunning(t *testing.T) {
	url := pgtest.New(t)
	options := append(pgtest.IgnoreGoroutines(), goleak.IgnoreCurrent())

	db, err := postgres.Open(t.Context(), postgres.Config{URL: url, Clock: clockwork.NewFakeClockAt(storetest.Epoch())})
	require.NoError(t, err)
	db.Start()

	require.NoError(t, db.CreateSession(t.Context(), storetest.NewSession(storetest.Epoch()), postgres.Terms{}))
	require.NoError(t, db.Ping(t.Context()))

	claims, err := db.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 1, MaxSessions: 1, Lease: storetest.Lease})
	require.NoError(t, err)
	require.Len(t, claims, 1)

	_, err = db.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("event", 1)})
	require.NoError(t, err)

	db.Stop()
	goleak.VerifyNone(t, options...)
}

func TestStopBeforeStart(t *testing.T) {
	t.Parallel()

	db, err := postgres.Open(t.Context(), postgres.Config{URL: pgtest.New(t)})
	require.NoError(t, err)
	db.Stop()
	db.Stop()
}
