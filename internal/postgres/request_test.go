package postgres_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

func TestRequestsAreAcceptedByStatus(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)

	for _, status := range tarsy.SessionStatuses() {
		session := claim.State.Session
		session.Status = status

		if status.Terminal() {
			at := f.Clock.Now()
			session.CompletedAt = &at
		}

		open, err := db.OpenRequests(t.Context(), claim.SessionID)
		require.NoError(t, err)

		for i := range open {
			open[i] = storetest.Closed(open[i], f.Clock.Now())
		}

		_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Session: &session, Answered: open})
		require.NoError(t, err)

		chat, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(claim.SessionID, tarsy.RequestChat, f.Clock.Now()))
		require.NoError(t, err)
		require.Equal(t, status.Terminal() && status != tarsy.SessionCancelled, chat, "chat in %s", status)

		cancel, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(claim.SessionID, tarsy.RequestCancel, f.Clock.Now()))
		require.NoError(t, err)
		require.Equal(t, status != tarsy.SessionCancelled, cancel, "cancel in %s: the investigation, or what was just asked", status)
	}

	ok, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(ident.New(), tarsy.RequestCancel, f.Clock.Now()))
	require.NoError(t, err)
	require.False(t, ok, "there is no such session")

	ok, err = storetest.AddRequest(db, t.Context(), storetest.NewRequest(ident.New(), tarsy.RequestChat, f.Clock.Now()))
	require.NoError(t, err)
	require.False(t, ok, "there is no such session")
}

func TestDeletedSessionAcceptsNoRequest(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	for _, session := range []tarsy.Session{f.Finished(t, db, tarsy.SessionCompleted), f.Create(t, db)} {
		f.Exec(t, `UPDATE sessions SET deleted_at = $2 WHERE id = $1`, session.ID, f.Clock.Now())

		for _, kind := range []tarsy.RequestKind{tarsy.RequestCancel, tarsy.RequestChat} {
			taken, err := storetest.AddRequest(db, t.Context(), storetest.NewRequest(session.ID, kind, f.Clock.Now()))
			require.NoError(t, err)
			require.False(t, taken, "%s of a deleted session that was %s", kind, session.Status)
		}
	}

	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM requests`))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT sum(open_requests) FROM sessions`))
}

func TestFinishedSessionIsCancellableOnlyDuringQuestion(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session := f.Finished(t, db, tarsy.SessionFailed)
	cancel := func() bool {
		taken, err := db.AddCancel(t.Context(), storetest.NewRequest(session.ID, tarsy.RequestCancel, f.Clock.Now()))
		require.NoError(t, err)

		return taken
	}

	require.False(t, cancel(), "nothing is being done")
	f.Question(t, db, session.ID)

	claim := f.ClaimAsked(t, db, storetest.ServerA, 1)[0]
	stage := f.Begin(t, db, claim)
	require.True(t, cancel(), "the question is being answered")
	require.True(t, cancel(), "asking twice is asking once")

	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Stages: []tarsy.Stage{storetest.Ended(stage, f.Clock.Now())}})
	require.NoError(t, err)
	require.False(t, cancel(), "what is asked still is too late, and nothing is being done")
	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM requests WHERE kind = 'cancel'`))
}

// If a request to cancel an answer were still open when the next question comes, it would cancel the answer to that one.
func TestQuestionIsRefusedWhileCancelOfPreviousAnswerIsOpen(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	session := f.Finished(t, db, tarsy.SessionCompleted)
	f.Question(t, db, session.ID)

	claim := f.ClaimAsked(t, db, storetest.ServerA, 1)[0]
	stage := f.Begin(t, db, claim)

	taken, err := db.AddCancel(t.Context(), storetest.NewRequest(session.ID, tarsy.RequestCancel, f.Clock.Now()))
	require.NoError(t, err)
	require.True(t, taken)

	committed, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Stages: []tarsy.Stage{storetest.Ended(stage, f.Clock.Now())}, Release: true})
	require.NoError(t, err)
	require.False(t, committed.Released)

	taken, err = storetest.AddRequest(db, t.Context(), storetest.NewRequest(session.ID, tarsy.RequestChat, f.Clock.Now()))
	require.NoError(t, err)
	require.False(t, taken)

	open, err := db.OpenRequests(t.Context(), session.ID)
	require.NoError(t, err)
	require.Len(t, open, 1)

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Answered: []tarsy.Request{storetest.Closed(open[0], f.Clock.Now())}, Release: true})
	require.NoError(t, err)
	f.Question(t, db, session.ID)
}

func TestExactlyOneConcurrentQuestionIsAccepted(t *testing.T) {
	t.Parallel()

	const askers, rounds = 20, 6

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}
	session := f.Finished(t, servers[0], tarsy.SessionCompleted)

	var chat string

	for round := range rounds {
		var (
			group errgroup.Group
			taken atomic.Pointer[tarsy.Question]
			count atomic.Int32
		)

		for n := range askers {
			group.Go(func() error {
				question, asked, err := servers[n%len(servers)].AddQuestion(context.Background(),
					storetest.NewRequest(session.ID, tarsy.RequestChat, f.Clock.Now()), storetest.NewQuestion())
				if asked {
					count.Add(1)
					taken.Store(&question)
				}

				return err
			})
		}

		require.NoError(t, group.Wait())
		require.Equal(t, int32(1), count.Load())
		require.Equal(t, round+1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM requests`), "a question that was refused leaves no row")
		require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT open_requests FROM sessions`))

		question := *taken.Load()
		if chat == "" {
			chat = question.ChatID
		}

		require.Equal(t, chat, question.ChatID, "all questions of a session are of one chat")

		claims := f.ClaimAsked(t, servers[1], storetest.ServerB, 1)
		require.Len(t, claims, 1)

		stage := f.Begin(t, servers[1], claims[0])
		require.Equal(t, question.StageID, stage.ID, "the asker was told the ids that are stored")
		require.Equal(t, question.Content, storetest.Value[string](t, f.Admin, `SELECT content FROM chat_user_messages WHERE id = $1`, question.MessageID))

		refused, err := storetest.AddRequest(servers[0], t.Context(), storetest.NewRequest(session.ID, tarsy.RequestChat, f.Clock.Now()))
		require.NoError(t, err)
		require.False(t, refused, "one is being answered")

		committed, err := servers[1].Hold(claims[0].Lease).Commit(t.Context(),
			progress.Step{Stages: []tarsy.Stage{storetest.Ended(stage, f.Clock.Now())}, Release: true})
		require.NoError(t, err)
		require.True(t, committed.Released)
	}

	require.Equal(t, 1, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM chats`))
}

// requireNoOrphanRequests checks that every open request is counted, and that its session is held or can be claimed.
func (f *fixture) requireNoOrphanRequests(t *testing.T) {
	t.Helper()
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions s
WHERE open_requests <> (SELECT count(*) FROM requests q WHERE q.session_id = s.id AND q.status = 'open')`))
	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT count(*) FROM sessions WHERE open_requests > 0 AND runnable_at IS NULL`))
}

// The next question and the end of the previous answer race: the question is refused, or the next server that looks finds it.
func TestQuestionRacingWithEndOfAnswerIsNotLost(t *testing.T) {
	t.Parallel()

	const rounds = 80

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	session := f.Finished(t, a, tarsy.SessionTimedOut)
	f.Question(t, b, session.ID)

	refused := 0

	for range rounds {
		claims := f.ClaimAsked(t, a, storetest.ServerA, 1)
		require.Len(t, claims, 1)
		require.True(t, claims[0].Uncounted)

		stage := f.Begin(t, a, claims[0])

		var (
			group     errgroup.Group
			committed postgres.Committed
			taken     bool
		)

		group.Go(func() (err error) {
			committed, err = a.Hold(claims[0].Lease).Commit(context.Background(),
				progress.Step{Stages: []tarsy.Stage{storetest.Ended(stage, f.Clock.Now())}, Release: true})

			return err
		})
		group.Go(func() (err error) {
			taken, err = storetest.AddRequest(b, context.Background(), storetest.NewRequest(session.ID, tarsy.RequestChat, f.Clock.Now()))

			return err
		})
		require.NoError(t, group.Wait())
		f.requireNoOrphanRequests(t)
		require.True(t, committed.Released, "while the answer is written no question is taken, so nothing keeps the lease")

		if !taken {
			refused++

			f.Question(t, b, session.ID)
		}
	}

	t.Logf("%d of %d questions came before the end", refused, rounds)
}

func TestCancelRacingWithQuestionLeavesNoOrphanRequest(t *testing.T) {
	t.Parallel()

	const rounds = 60

	f := newFixture(t)
	a, b := f.Server(t), f.Server(t)
	session := f.Finished(t, a, tarsy.SessionCompleted)
	cancelled := 0

	for range rounds {
		var (
			group         errgroup.Group
			asked, cancel bool
		)

		group.Go(func() (err error) {
			asked, err = storetest.AddRequest(a, context.Background(), storetest.NewRequest(session.ID, tarsy.RequestChat, f.Clock.Now()))

			return err
		})
		group.Go(func() (err error) {
			cancel, err = storetest.AddRequest(b, context.Background(), storetest.NewRequest(session.ID, tarsy.RequestCancel, f.Clock.Now()))

			return err
		})
		require.NoError(t, group.Wait())
		require.True(t, asked, "nothing else is asked of this session")
		f.requireNoOrphanRequests(t)

		want := 1
		if cancel {
			want++
			cancelled++
		}

		// Whether it is claimed to answer or to cancel, both requests are in its state.
		claims, err := a.Claim(t.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Cancels: 1, Chats: 1, Lease: storetest.Lease})
		require.NoError(t, err)
		require.Len(t, claims, 1)
		require.True(t, claims[0].Uncounted)
		require.Len(t, claims[0].State.Requests, want)

		answered := claims[0].State.Requests
		for i := range answered {
			answered[i] = storetest.Closed(answered[i], f.Clock.Now())
		}

		committed, err := a.Hold(claims[0].Lease).Commit(t.Context(), progress.Step{Answered: answered, Release: true})
		require.NoError(t, err)
		require.True(t, committed.Released)
	}

	t.Logf("%d of %d wishes came after the question", cancelled, rounds)
}
