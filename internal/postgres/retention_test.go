package postgres_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/journal/journaltest"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/kit/wait"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// unboundedBatch is a batch that no test fills.
func unboundedBatch() postgres.Batch { return postgres.Batch{Sessions: 100, Events: 10_000} }

func nothing(pgx.Tx) error { return nil }

// ended stores a session with this many events that is over and not held.
func (f *fixture) ended(t require.TestingT, db *postgres.DB, events int) tarsy.Session {
	claim := f.Hold(t, db, storetest.NewEvents("intake", 1)...)
	session := claim.State.Session
	f.end(t, db, claim, storetest.NewEvents("event", events-1))

	return session
}

func (f *fixture) end(t require.TestingT, db *postgres.DB, claim postgres.Claim, events []tarsy.Event) {
	session, now := claim.State.Session, f.Clock.Now()
	session.Status, session.CompletedAt, session.LastInteractionAt = tarsy.SessionCompleted, &now, &now

	done, err := db.Hold(claim.Lease).Commit(context.Background(), progress.Step{Session: &session, Events: events, Release: true})
	require.NoError(t, err)
	require.True(t, done.Released)
}

// ask asks a question of an ended session and claims it for the answer.
func (f *fixture) ask(t require.TestingT, db *postgres.DB, id string) postgres.Claim {
	ok, err := storetest.AddRequest(db, context.Background(), storetest.NewRequest(id, tarsy.RequestChat, f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)

	claims := f.claimChats(t, db, 1)
	require.Len(t, claims, 1)
	require.Equal(t, id, claims[0].SessionID)

	return claims[0]
}

// claimChats claims sessions that are over and have a question to answer.
func (f *fixture) claimChats(t require.TestingT, db *postgres.DB, n int) []postgres.Claim {
	claims, err := db.Claim(context.Background(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Chats: n, MaxSessions: storetest.NoLimit, Lease: storetest.Lease})
	require.NoError(t, err)

	return claims
}

// remainingEvents returns how many events of a session are left, and the number up to which they were trimmed.
func (f *fixture) remainingEvents(t require.TestingT, id string) (events, trimmed int) {
	return storetest.Value[int](t, f.Admin, `SELECT count(*) FROM events WHERE session_id = $1`, id),
		storetest.Value[int](t, f.Admin, `SELECT trimmed_seq FROM sessions WHERE id = $1`, id)
}

func (f *fixture) deleted(t require.TestingT, id string) bool {
	return storetest.Value[bool](t, f.Admin, `SELECT deleted_at IS NOT NULL FROM sessions WHERE id = $1`, id)
}

// everyState stores a session in each state that the clean-up must not touch, all of them long ago, and one in the only state
// that it may touch.
func (f *fixture) everyState(t *testing.T, db *postgres.DB) (free string, alone map[string]string) {
	t.Helper()

	alone = map[string]string{}

	leased := f.ended(t, db, 3)
	f.ask(t, db, leased.ID)
	alone["claimed for a question"] = leased.ID

	alone["is running"] = f.Hold(t, db, storetest.NewEvents("intake", 2)...).SessionID

	// Two whose holder has accepted the question; one of them is handed over in the middle.
	for _, name := range []string{"answering a question", "handed over with an answer half done"} {
		claim := f.ask(t, db, f.ended(t, db, 3).ID)
		_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Answered: []tarsy.Request{storetest.Closed(claim.State.Requests[0], f.Clock.Now())}})
		require.NoError(t, err)
		require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT open_requests FROM sessions WHERE id = $1`, claim.SessionID))

		if strings.HasPrefix(name, "handed over") {
			require.NoError(t, db.HandOver(t.Context(), claim.Lease))
		}

		alone[name] = claim.SessionID
	}

	// From here on nothing is claimed any more, because these would be.
	free = ident.New()
	for name, id := range map[string]string{"": free, "talked about lately": ident.New(), "ended lately": ident.New()} {
		session := storetest.NewSession(f.Clock.Now())
		session.ID, session.Status, session.CompletedAt = id, tarsy.SessionFailed, &session.CreatedAt
		require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}, storetest.NewEvents("intake", 4)...))
		f.Exec(t, `UPDATE sessions SET runnable_at = NULL WHERE id = $1`, id)

		if name != "" {
			alone[name] = id
		}
	}

	asked := ident.New()
	session := storetest.NewSession(f.Clock.Now())
	session.ID, session.Status, session.CompletedAt = asked, tarsy.SessionCompleted, &session.CreatedAt
	require.NoError(t, db.CreateSession(t.Context(), session, postgres.Terms{}, storetest.NewEvents("intake", 4)...))
	f.Exec(t, `UPDATE sessions SET runnable_at = NULL WHERE id = $1`, asked)
	ok, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(asked, tarsy.RequestChat, f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, ok)
	alone["asked a question that nobody has taken"] = asked

	f.Clock.Advance(48 * time.Hour)
	f.Exec(t, `UPDATE sessions SET last_interaction_at = $2 WHERE id = $1`, alone["talked about lately"], f.Clock.Now().Add(-time.Hour))
	f.Exec(t, `UPDATE sessions SET completed_at = $2 WHERE id = $1`, alone["ended lately"], f.Clock.Now().Add(-time.Hour))

	return free, alone
}

func TestOnlyFinishedIdleSessionsJournalsAreTrimmed(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	free, alone := f.everyState(t, db)

	before := map[string]int{}
	for _, id := range alone {
		before[id], _ = f.remainingEvents(t, id)
		require.Positive(t, before[id])
	}

	swept, err := db.TrimJournals(t.Context(), f.Clock.Now().Add(-24*time.Hour), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 1, Events: 4}, swept)

	events, trimmed := f.remainingEvents(t, free)
	require.Zero(t, events)
	require.Equal(t, 4, trimmed)

	for name, id := range alone {
		events, trimmed := f.remainingEvents(t, id)
		require.Equal(t, before[id], events, name)
		require.Zero(t, trimmed, name)
	}

	// A second run does nothing.
	swept, err = db.TrimJournals(t.Context(), f.Clock.Now().Add(-24*time.Hour), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Zero(t, swept)
}

func TestOnlyFinishedIdleSessionsExpire(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	free, alone := f.everyState(t, db)

	swept, err := db.ExpireSessions(t.Context(), f.Clock.Now().Add(-24*time.Hour), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 1}, swept)
	require.True(t, f.deleted(t, free))
	require.Equal(t, f.Clock.Now(), storetest.Value[time.Time](t, f.Admin, `SELECT deleted_at FROM sessions WHERE id = $1`, free).UTC())

	for name, id := range alone {
		require.False(t, f.deleted(t, id), name)
	}

	swept, err = db.ExpireSessions(t.Context(), f.Clock.Now().Add(-24*time.Hour), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Zero(t, swept)
}

// A trimmed session is trimmed again after a chat, which writes more events, and only then.
func TestChatAfterCleanupIsCleanedUpLater(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session := f.ended(t, db, 5)

	sweep := func() postgres.Swept {
		swept, err := db.TrimJournals(t.Context(), f.Clock.Now().Add(-24*time.Hour), unboundedBatch(), nothing)
		require.NoError(t, err)

		return swept
	}

	f.Clock.Advance(25 * time.Hour)
	require.Equal(t, 1, sweep().Sessions)

	claim := f.ask(t, db, session.ID)
	require.Zero(t, sweep())

	now := f.Clock.Now()
	answered := claim.State.Session
	answered.LastInteractionAt = &now
	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{
		Session: &answered, Events: storetest.NewEvents("chat", 3), Release: true, Answered: []tarsy.Request{storetest.Closed(claim.State.Requests[0], now)},
	})
	require.NoError(t, err)
	require.Zero(t, sweep())

	f.Clock.Advance(25 * time.Hour)
	require.Equal(t, postgres.Swept{Sessions: 1, Events: 3}, sweep())

	events, trimmed := f.remainingEvents(t, session.ID)
	require.Zero(t, events)
	require.Equal(t, 8, trimmed)
}

func TestBatchesAreBoundedAndLastOneIsReported(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for _, events := range []int{7, 7, 2, 2, 2} {
		f.ended(t, db, events)
		f.Clock.Advance(time.Second)
	}

	f.Clock.Advance(time.Hour)

	before := f.Clock.Now().Add(-time.Minute)
	ends := 0
	last := func(pgx.Tx) error {
		ends++

		return nil
	}

	for _, want := range []postgres.Swept{
		{Sessions: 2, Events: 14, More: true}, // the second one crosses the bound of events, so the third is not taken
		{Sessions: 3, Events: 6, More: true},  // the bound of sessions
		{},
	} {
		swept, err := db.TrimJournals(t.Context(), before, postgres.Batch{Sessions: 3, Events: 8}, last)
		require.NoError(t, err)
		require.Equal(t, want, swept)
	}

	require.Equal(t, 1, ends)

	for _, want := range []postgres.Swept{{Sessions: 4, More: true}, {Sessions: 1}, {}} {
		swept, err := db.ExpireSessions(t.Context(), before, postgres.Batch{Sessions: 4}, last)
		require.NoError(t, err)
		require.Equal(t, want, swept)
	}

	require.Equal(t, 3, ends)
}

func TestBatchAndItsJobCompleteInOneTransaction(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session := f.ended(t, db, 3)
	f.Clock.Advance(time.Hour)

	refused := errors.New("refused")
	refuse := func(pgx.Tx) error { return refused }

	_, err := db.TrimJournals(t.Context(), f.Clock.Now(), unboundedBatch(), refuse)
	require.ErrorIs(t, err, refused)
	_, err = db.ExpireSessions(t.Context(), f.Clock.Now(), unboundedBatch(), refuse)
	require.ErrorIs(t, err, refused)

	events, trimmed := f.remainingEvents(t, session.ID)
	require.Equal(t, 3, events)
	require.Zero(t, trimmed)
	require.False(t, f.deleted(t, session.ID))
}

// The clean-up neither waits for a locked row nor touches it.
func TestLockedSessionsAreSkippedUntilNextRun(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session, other := f.ended(t, db, 3), f.ended(t, db, 2)
	f.Clock.Advance(time.Hour)

	unlock := f.Lock(t, session.ID)

	swept, err := db.TrimJournals(t.Context(), f.Clock.Now(), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 1, Events: 2}, swept)

	swept, err = db.ExpireSessions(t.Context(), f.Clock.Now(), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 1}, swept)
	require.True(t, f.deleted(t, other.ID))

	unlock()

	swept, err = db.TrimJournals(t.Context(), f.Clock.Now(), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 1, Events: 3}, swept)
}

// Questions are asked and answered while two servers clean up with a bound that includes every session: the clean-up must remove
// exactly the events that the journal counts as gone.
func TestCleanupRacingWithHoldersKeepsCounts(t *testing.T) {
	t.Parallel()

	const sessions, rounds = 8, 15

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)

	ids := make([]string, sessions)
	for i := range ids {
		ids[i] = f.ended(t, a, 3).ID
	}

	var (
		talking, sweeping errgroup.Group
		done              = make(chan struct{})
		later             = f.Clock.Now().Add(time.Hour)
	)

	talking.Go(func() error {
		for range rounds {
			for _, id := range ids {
				if _, err := storetest.AddRequest(a, context.Background(), storetest.NewRequest(id, tarsy.RequestChat, f.Clock.Now())); err != nil {
					return err
				}
			}

			for _, claim := range f.claimChats(t, a, sessions) {
				_, err := a.Hold(claim.Lease).Commit(context.Background(), progress.Step{
					Events: storetest.NewEvents("chat", 4), Release: true, Answered: []tarsy.Request{storetest.Closed(claim.State.Requests[0], f.Clock.Now())},
				})
				if err != nil {
					return err
				}
			}
		}

		return nil
	})

	for _, db := range []*postgres.DB{a, b} {
		sweeping.Go(func() error {
			for {
				select {
				case <-done:
					return nil
				default:
				}

				if _, err := db.TrimJournals(context.Background(), later, postgres.Batch{Sessions: 3, Events: 5}, nothing); err != nil {
					return err
				}
			}
		})
	}

	require.NoError(t, talking.Wait())
	close(done)
	require.NoError(t, sweeping.Wait())

	for _, id := range ids {
		require.Equal(t, 3+4*rounds, storetest.Value[int](t, f.Admin, `SELECT last_seq FROM sessions WHERE id = $1`, id))
		f.requireCounted(t, id)
	}
}

// requireCounted checks that exactly the events that the session does not count as gone are left.
func (f *fixture) requireCounted(t *testing.T, id string) {
	t.Helper()
	require.True(t, storetest.Value[bool](t, f.Admin, `SELECT coalesce(min(e.seq) = s.trimmed_seq + 1, s.trimmed_seq = s.last_seq)
    AND count(e.seq) = s.last_seq - s.trimmed_seq
FROM sessions s LEFT JOIN events e ON e.session_id = s.id WHERE s.id = $1 GROUP BY s.id`, id))
}

func TestTrimmedSessionJournalConformsForReaders(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	writer, reader := f.Server(t), f.Server(t)

	var queue sync.Mutex

	for name, on := range map[string]func(id string) journal.Reader[tarsy.Event]{
		"same server": writer.Journal, "another server": reader.Journal,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			journaltest.Trimmed(t, func(t *testing.T) (journal.Reader[string], journaltest.Append, journaltest.Trim) {
				t.Helper()
				queue.Lock()
				defer queue.Unlock()

				session := f.ended(t, writer, 2)

				return textReader{on(session.ID)}, func(ctx context.Context, entries ...string) error {
						queue.Lock()
						defer queue.Unlock()

						events := make([]tarsy.Event, len(entries))
						for i, entry := range entries {
							events[i] = tarsy.Event{Type: "test", Payload: text(entry), CreatedAt: storetest.Epoch()}
						}

						claim := f.ask(t, writer, session.ID)
						_, err := writer.Hold(claim.Lease).Commit(ctx, progress.Step{
							Events: events, Release: true, Answered: []tarsy.Request{storetest.Closed(claim.State.Requests[0], storetest.Epoch())},
						})

						return err
					}, func(ctx context.Context) error {
						queue.Lock()
						defer queue.Unlock()

						// Only this one may be trimmed, and only now.
						const age = `UPDATE sessions SET completed_at = $2, last_interaction_at = $2 WHERE id = $1`

						f.Exec(t, age, session.ID, storetest.Epoch().Add(-time.Hour))
						defer f.Exec(t, age, session.ID, storetest.Epoch())

						_, err := reader.TrimJournals(ctx, storetest.Epoch(), unboundedBatch(), nothing)

						return err
					}
			})
		})
	}
}

func TestDeletedSessionIsInNoQuery(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	kept, session := f.ended(t, db, 2), f.ended(t, db, 3)

	feed := db.Signals().WatchSessions(10)
	defer feed.Close()

	require.NoError(t, db.DeleteSession(t.Context(), session.ID))

	wait.For(t, feed.C, "the feed to be notified")

	changes, _ := feed.Take()
	require.Equal(t, []postgres.Change{{SessionID: session.ID, Version: 3}}, changes, "lists are told")

	list, err := db.Sessions(t.Context(), tarsy.SessionFilter{Limit: 10})
	require.NoError(t, err)
	require.Len(t, list, 1)
	require.Equal(t, kept.ID, list[0].ID)

	_, err = db.SessionDetail(t.Context(), session.ID)
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	_, err = db.Timeline(t.Context(), session.ID, tarsy.TimelineQuery{Limit: 1})
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	_, err = db.Journal(session.ID).Head(t.Context())
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	_, err = db.Status(t.Context(), session.ID)
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

	_, err = db.Trace(t.Context(), session.ID, tarsy.TraceQuery{Limit: 1})
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	_, err = db.LLMInteraction(t.Context(), session.ID, ident.New())
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))
	_, err = db.MCPInteraction(t.Context(), session.ID, ident.New())
	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(err))

	for _, kind := range []tarsy.RequestKind{tarsy.RequestCancel, tarsy.RequestChat} {
		asked, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(session.ID, kind, storetest.Epoch()))
		require.NoError(t, err)
		require.False(t, asked, kind)
	}

	require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(db.DeleteSession(t.Context(), session.ID)), "again")

	status, err := db.Status(t.Context(), kept.ID)
	require.NoError(t, err)
	require.Equal(t, tarsy.SessionCompleted, status)

	// Its journal is trimmed when it is due.
	f.Clock.Advance(time.Hour)

	swept, err := db.TrimJournals(t.Context(), f.Clock.Now(), unboundedBatch(), nothing)
	require.NoError(t, err)
	require.Equal(t, postgres.Swept{Sessions: 2, Events: 5}, swept)
}

func TestRunningSessionsAreNotDeleted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	_, alone := f.everyState(t, db)

	for _, id := range []string{ident.New(), "no-id", ""} {
		require.Equal(t, tarsy.CodeSessionNotFound, tarsy.CodeOf(db.DeleteSession(t.Context(), id)), id)
	}

	for name, id := range alone {
		err := db.DeleteSession(t.Context(), id)

		if strings.HasSuffix(name, "lately") {
			require.NoError(t, err, name)
			require.True(t, f.deleted(t, id))

			continue
		}

		require.Equal(t, tarsy.CodeConflict, tarsy.CodeOf(err), name)
		require.False(t, f.deleted(t, id))
	}
}

func TestCleanupUsesItsIndexes(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for sql, index := range map[string]string{
		postgres.LockForTrimSQL: "using sessions_untrimmed", postgres.TrimSQL: "using events_pkey", postgres.ExpireSQL: "using sessions_over",
	} {
		plan, err := db.Plan(t.Context(), sql)
		require.NoError(t, err)
		require.Contains(t, plan, index+" ")
		require.NotContains(t, plan, "Seq Scan")
		require.NotContains(t, plan, "Sort", "the index gives the order")
	}
}
