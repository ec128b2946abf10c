package postgres_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// cutStep is a step of rows and events whose ids are chosen before the attempt to commit.
func cutStep(sessionID string) progress.Step {
	stage := storetest.NewStage(sessionID, 1, storetest.Epoch())
	execution := storetest.NewExecution(stage, 1, storetest.Epoch())

	return progress.Step{
		Stages: []tarsy.Stage{stage}, Executions: []tarsy.Execution{execution},
		Messages: []tarsy.Message{storetest.NewMessage(execution, 1, "said once", storetest.Epoch())},
		Events:   storetest.NewEvents("cut", 2),
	}
}

// requireWhole checks that the step was stored completely and once, or not at all.
func requireWhole(t *testing.T, f *fixture, state *progress.State, step progress.Step) (there bool) {
	t.Helper()

	journal := f.Journal(t, state.Session.ID)
	require.Equal(t, int64(len(journal)), state.LastSeq)

	if state.LastSeq == 0 {
		require.Empty(t, state.Stages)
		require.Empty(t, state.Messages)

		return false
	}

	require.Equal(t, types(step.Events), journal)
	storetest.RequireSame(t, step.Stages, state.Stages)
	storetest.RequireSame(t, step.Messages, state.Messages)

	return true
}

func TestConnectionLossDuringCommitHasOneEffect(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		at    cutPoint
		there func(*testing.T, bool)
	}{
		"before COMMIT is sent":             {at: beforeCommit, there: func(t *testing.T, there bool) { t.Helper(); require.False(t, there) }},
		"right behind COMMIT":               {at: withCommit, there: func(t *testing.T, _ bool) { t.Helper() }},
		"before COMMIT's answer comes back": {at: afterCommit, there: func(t *testing.T, there bool) { t.Helper(); require.True(t, there) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t)
			proxy, address := newProxy(t, f)
			db := f.ServerAt(t, address)

			// The cut hits a group, so that every session in it is in doubt.
			claims := []postgres.Claim{f.Hold(t, db), f.Hold(t, db), f.Hold(t, db)}
			holders, steps, waits := make([]*postgres.Holder, len(claims)), make([]progress.Step, len(claims)), make([]*postgres.Pending, len(claims))

			proxy.arm(test.at, `cut.1`)
			grouped(t, f, db, func() {
				for i, claim := range claims {
					holders[i], steps[i] = db.Hold(claim.Lease), cutStep(claim.SessionID)
					waits[i] = holders[i].Submit(steps[i])
				}
			})

			for i, claim := range claims {
				_, cause := waits[i].Wait(t.Context())
				require.Error(t, cause, "nobody can know how the commit ended")
				require.NotErrorIs(t, cause, postgres.ErrFenceLost)

				_, err := holders[i].Commit(t.Context(), steps[i])
				require.Equal(t, cause, err, "a holder in doubt writes nothing more")

				// Every holder then looks, and does what has not been done.
				state, err := db.Load(t.Context(), claim.Lease)
				require.NoError(t, err)

				there := requireWhole(t, f, state, steps[i])
				test.there(t, there)

				if !there {
					_, err = db.Hold(claim.Lease).Commit(t.Context(), steps[i])
					require.NoError(t, err)
				}

				state, err = db.Load(t.Context(), claim.Lease)
				require.NoError(t, err)
				require.True(t, requireWhole(t, f, state, steps[i]))
			}

			require.Equal(t, 1, proxy.cuts(), "the connection was cut once")
		})
	}
}

func TestLoadWaitsForCommitInFlight(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	proxy, address := newProxy(t, f)
	db := f.ServerAt(t, address)
	claim := f.Hold(t, db)
	step := cutStep(claim.SessionID)

	proxy.arm(delayedCommit, `cut.1`)

	_, err := db.Hold(claim.Lease).Commit(t.Context(), step)
	require.Error(t, err)

	type loaded struct {
		state *progress.State
		err   error
	}

	loads := make(chan loaded, 1)

	go func() { // ends when COMMIT is delivered
		state, err := db.Load(t.Context(), claim.Lease)
		loads <- loaded{state: state, err: err}
	}()

	f.AwaitBlocked(t, 1)

	select {
	case <-loads:
		require.Fail(t, "the state was loaded while a commit was under way")
	default:
	}

	proxy.deliver()

	got := <-loads
	require.NoError(t, got.err)
	require.True(t, requireWhole(t, f, got.state, step))
}

func TestTakeoverWaitsForCommitInFlight(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	proxy, address := newProxy(t, f)
	late, other := f.ServerAt(t, address), f.Server(t)
	claim := f.Hold(t, late)
	step := cutStep(claim.SessionID)

	proxy.arm(delayedCommit, `cut.1`)

	_, err := late.Hold(claim.Lease).Commit(t.Context(), step)
	require.Error(t, err)

	f.Clock.Advance(2 * storetest.Lease)
	require.Empty(t, f.Claim(t, other, storetest.ServerB, 1), "the row is locked by the commit")

	proxy.deliver()
	f.Awaitf(t, func() bool {
		return storetest.Value[int](t, f.Admin, `SELECT last_seq FROM sessions WHERE id = $1`, claim.SessionID) > 0
	}, "the late COMMIT to arrive")

	claims := f.Claim(t, other, storetest.ServerB, 1)
	require.Len(t, claims, 1)
	require.True(t, requireWhole(t, f, &claims[0].State, step), "the new holder sees what the old one committed")

	_, err = late.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("late", 1)})
	require.ErrorIs(t, err, postgres.ErrFenceLost)
}

func TestFrozenServerDoesNotKeepItsSessionsLocked(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	proxy, address := newProxy(t, f)
	late, other := f.ServerAt(t, address+"&idle_in_transaction_session_timeout=1s"), f.Server(t) // long enough for a busy machine to reach the write
	claim := f.Hold(t, late)

	proxy.arm(frozen, `cut.1`)

	// The server freezes between locking and writing, like one that was stopped.
	p := late.Hold(claim.Lease).Submit(cutStep(claim.SessionID))

	f.Awaitf(t, func() bool { return proxy.cuts() == 1 }, "the commit to freeze")
	f.Clock.Advance(2 * storetest.Lease)

	var claims []postgres.Claim

	f.Awaitf(t, func() bool {
		claims = append(claims, f.Claim(t, other, storetest.ServerB, 1)...)

		return len(claims) == 1
	}, "the session to be taken over")

	proxy.deliver()

	_, err := p.Wait(t.Context())
	require.Error(t, err)
	require.Empty(t, f.Journal(t, claim.SessionID))

	limit, err := other.Setting(t.Context(), "idle_in_transaction_session_timeout")
	require.NoError(t, err)
	require.Equal(t, "5s", limit, "nobody has to configure it")
}
