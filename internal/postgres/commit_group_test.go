package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// grouped submits steps while both committers are busy, so that all of them wait, and then unblocks the committers: the submitted
// steps become one group.
func grouped(t *testing.T, f *fixture, db *postgres.DB, submit func()) {
	t.Helper()

	busy := []postgres.Claim{f.Hold(t, db), f.Hold(t, db)}

	unlock := f.Lock(t, busy[0].SessionID, busy[1].SessionID)
	waiting := make([]*postgres.Pending, 0, len(busy))

	for i, claim := range busy {
		waiting = append(waiting, db.Hold(claim.Lease).Submit(progress.Step{Events: storetest.NewEvents("busy", 1)}))
		f.AwaitBlocked(t, i+1)
	}

	submit()
	unlock()

	for _, p := range waiting {
		_, err := p.Wait(t.Context())
		require.NoError(t, err)
	}
}

func TestLostFenceDropsOnlyItsOwnStep(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)

	var (
		claims []postgres.Claim
		waits  []*postgres.Pending
	)

	for range 5 {
		claims = append(claims, f.Hold(t, db))
	}

	stale := claims[2]
	require.NoError(t, db.HandOver(t.Context(), stale.Lease))
	require.Len(t, f.Claim(t, db, storetest.ServerB, 1), 1)

	grouped(t, f, db, func() {
		for _, claim := range claims {
			waits = append(waits, db.Hold(claim.Lease).Submit(progress.Step{
				Stages: []tarsy.Stage{storetest.NewStage(claim.SessionID, 1, storetest.Epoch())}, Events: storetest.NewEvents("event", 2),
			}))
		}
	})

	ids := make([]string, 0, len(claims))

	for i, claim := range claims {
		committed, err := waits[i].Wait(t.Context())

		ids = append(ids, claim.SessionID)
		stages := storetest.Value[int](t, f.Admin, `SELECT count(*) FROM stages WHERE session_id = $1`, claim.SessionID)

		if claim.SessionID == stale.SessionID {
			require.ErrorIs(t, err, postgres.ErrFenceLost)
			require.Empty(t, f.Journal(t, claim.SessionID))
			require.Zero(t, stages)

			continue
		}

		require.NoError(t, err)
		require.Equal(t, int64(2), committed.LastSeq)
		require.Equal(t, []string{"event.1", "event.2"}, f.Journal(t, claim.SessionID))
		require.Equal(t, 1, stages)
	}

	require.Len(t, f.Transactions(t, ids...), 1, "the steps were one group")
}

func TestBadRowLeavesOthersOfGroupUnaffected(t *testing.T) {
	t.Parallel()

	bad := map[string]func(claim postgres.Claim, step *progress.Step){
		"status that a CHECK refuses": func(claim postgres.Claim, step *progress.Step) {
			step.Stages = []tarsy.Stage{storetest.NewStage(claim.SessionID, 1, storetest.Epoch())}
			step.Stages[0].Status = "sleeping"
		},
		"JSON that cannot be encoded": func(claim postgres.Claim, step *progress.Step) {
			step.LLMInteractions = []tarsy.LLMInteraction{{
				ID: ident.New(), SessionID: claim.SessionID, InteractionType: tarsy.InteractionIteration,
				LLMResponse: json.RawMessage(`{"cut": "o`), CreatedAt: storetest.Epoch(),
			}}
		},
		"NUL in text": func(claim postgres.Claim, step *progress.Step) {
			step.Timeline = []tarsy.TimelineEvent{storetest.NewTimelineEvent(claim.SessionID, 1, storetest.Epoch())}
			step.Timeline[0].Content = "a\x00b"
		},
		"two stages in one place": func(claim postgres.Claim, step *progress.Step) {
			step.Stages = append(step.Stages, storetest.NewStage(claim.SessionID, 7, storetest.Epoch()), storetest.NewStage(claim.SessionID, 7, storetest.Epoch()))
		},
	}

	for name, spoil := range bad {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := newFixture(t)
			db := f.Server(t)
			claims := []postgres.Claim{f.Hold(t, db), f.Hold(t, db), f.Hold(t, db)}

			var waits []*postgres.Pending

			grouped(t, f, db, func() {
				for i, claim := range claims {
					step := progress.Step{Events: storetest.NewEvents("event", 2)}
					if i == 1 {
						spoil(claim, &step)
					}

					waits = append(waits, db.Hold(claim.Lease).Submit(step))
				}
			})

			for i, claim := range claims {
				_, err := waits[i].Wait(t.Context())
				if i == 1 {
					require.Error(t, err)
					require.NotErrorIs(t, err, postgres.ErrFenceLost)
					require.Empty(t, f.Journal(t, claim.SessionID), "nothing of the refused step is there")

					continue
				}

				require.NoError(t, err)
				require.Equal(t, []string{"event.1", "event.2"}, f.Journal(t, claim.SessionID))
			}

			// The lease is not lost with the step: its owner continues with a new Holder.
			_, err := db.Load(t.Context(), claims[1].Lease)
			require.NoError(t, err)

			_, err = db.Hold(claims[1].Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("after", 1)})
			require.NoError(t, err)
			require.Equal(t, []string{"after.1"}, f.Journal(t, claims[1].SessionID))
		})
	}
}

func TestStepsOfOneHolderKeepOrder(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	holder := db.Hold(claim.Lease)

	const steps = 150 // more than fit into one group

	want := make([]string, 0, steps)
	waits := make([]*postgres.Pending, 0, steps)

	for i := range steps {
		events := storetest.NewEvents(fmt.Sprintf("step%d", i), 1)
		want = append(want, events[0].Type)
		waits = append(waits, holder.Submit(progress.Step{Events: events}))
	}

	last := int64(0)

	for i, p := range waits {
		committed, err := p.Wait(t.Context())
		require.NoError(t, err)
		require.GreaterOrEqual(t, committed.LastSeq, int64(i+1))
		require.GreaterOrEqual(t, committed.LastSeq, last)
		last = committed.LastSeq
	}

	require.Equal(t, want, f.Journal(t, claim.SessionID))
}

func TestRowCreatedAndCompletedInOneGroupIsCompleted(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	holder := db.Hold(claim.Lease)

	created := storetest.NewTimelineEvent(claim.SessionID, 1, storetest.Epoch())
	completed, at := created, storetest.Epoch().Add(time.Second)
	completed.Status, completed.Content, completed.CompletedAt = tarsy.EventCompleted, "all of it", &at

	var waits []*postgres.Pending

	grouped(t, f, db, func() {
		waits = append(waits,
			holder.Submit(progress.Step{Timeline: []tarsy.TimelineEvent{created}, Events: storetest.NewEvents("created", 1)}),
			holder.Submit(progress.Step{Timeline: []tarsy.TimelineEvent{completed}, Events: storetest.NewEvents("completed", 1)}))
	})

	for _, p := range waits {
		_, err := p.Wait(t.Context())
		require.NoError(t, err)
	}

	require.Len(t, f.Transactions(t, claim.SessionID), 1, "the steps were one group")
	require.Equal(t, []string{"created.1", "completed.1"}, f.Journal(t, claim.SessionID))

	state, err := db.Load(t.Context(), claim.Lease)
	require.NoError(t, err)
	storetest.RequireSame(t, []tarsy.TimelineEvent{completed}, state.Timeline)
}

func TestHolderCommitsNothingAfterError(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	holder := db.Hold(claim.Lease)

	refused := progress.Step{Stages: []tarsy.Stage{storetest.NewStage(claim.SessionID, -1, storetest.Epoch())}}
	first, second := holder.Submit(refused), holder.Submit(progress.Step{Events: storetest.NewEvents("queued", 1)})

	_, cause := first.Wait(t.Context())
	require.Error(t, cause)

	_, err := second.Wait(t.Context())
	require.Error(t, err)

	_, err = holder.Commit(t.Context(), progress.Step{Events: storetest.NewEvents("later", 1)})
	require.Equal(t, cause, err, "a holder keeps its first error")
	require.Empty(t, f.Journal(t, claim.SessionID))

	_, err = db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Events: storetest.NewEvents("new", 1)})
	require.NoError(t, err)
	require.Equal(t, []string{"new.1"}, f.Journal(t, claim.SessionID))
}

func TestAbandonedWaitDoesNotAbandonStep(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	unlock := f.Lock(t, claim.SessionID)
	p := db.Hold(claim.Lease).Submit(progress.Step{Events: storetest.NewEvents("event", 1)})

	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	_, err := p.Wait(ctx)
	require.ErrorIs(t, err, context.Canceled)

	unlock()

	_, err = p.Wait(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"event.1"}, f.Journal(t, claim.SessionID))
}

func TestGroupsOfConcurrentServersNeverDeadlock(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	servers := []*postgres.DB{f.Server(t), f.Server(t)}

	const sessions, rounds = 12, 15

	leases := make([]postgres.Lease, sessions)
	for i := range leases {
		leases[i] = f.Hold(t, servers[0]).Lease
	}

	// Two servers that both believe they hold the same sessions submit them in opposite orders, while a third renews them all.
	var group errgroup.Group

	for n, db := range servers {
		group.Go(func() error {
			for range rounds {
				waits := make([]*postgres.Pending, sessions)

				for i := range leases {
					at := i
					if n == 1 {
						at = sessions - 1 - i
					}

					waits[at] = db.Hold(leases[at]).Submit(progress.Step{Events: storetest.NewEvents("event", 1)})
				}

				for _, p := range waits {
					if _, err := p.Wait(context.Background()); err != nil {
						return err
					}
				}
			}

			return nil
		})
	}

	group.Go(func() error {
		for range rounds {
			renewed, err := servers[0].Renew(context.Background(), leases, f.Clock.Now().Add(storetest.Lease))
			if err != nil {
				return err
			}

			if len(renewed) != sessions {
				return fmt.Errorf("%d leases were renewed", len(renewed))
			}
		}

		return nil
	})

	require.NoError(t, group.Wait())

	for _, l := range leases {
		require.Len(t, f.Journal(t, l.SessionID), 2*rounds)
	}

	require.Zero(t, storetest.Value[int](t, f.Admin, `SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()`))
}

func TestStopCommitsQueuedSteps(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	holder := db.Hold(claim.Lease)

	waits := make([]*postgres.Pending, 0, 100)
	for range cap(waits) {
		waits = append(waits, holder.Submit(progress.Step{Events: storetest.NewEvents("event", 1)}))
	}

	db.Stop()
	db.Stop()

	for _, p := range waits {
		_, err := p.Wait(t.Context())
		require.NoError(t, err)
	}

	require.Len(t, f.Journal(t, claim.SessionID), len(waits))

	_, err := holder.Commit(t.Context(), progress.Step{Events: storetest.NewEvents("late", 1)})
	require.Error(t, err)
}

// The rows of a step may be large, and PostgreSQL ends a transaction that waits for its server. So a row that cannot be encoded
// is detected even while another transaction has the session's lock.
func TestRowsAreEncodedBeforeSessionIsLocked(t *testing.T) {
	t.Parallel()

	f := newFixture(t)
	db := f.Server(t)
	claim := f.Hold(t, db)
	message := tarsy.Message{ID: ident.New(), SessionID: claim.SessionID, Signature: json.RawMessage("{")}

	defer f.Lock(t, claim.SessionID)()

	_, err := db.Hold(claim.Lease).Commit(t.Context(), progress.Step{Messages: []tarsy.Message{message}})
	require.True(t, postgres.Unstorable(err), "%v", err)
}
