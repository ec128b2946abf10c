package postgres_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/postgres/pgtest"
	"tarsy.dev/tarsy/internal/postgres/storetest"
	"tarsy.dev/tarsy/internal/progress"
)

// BenchmarkCommit lets 16 holders commit steps of one message and two events each: all concurrently, so that waiting steps share
// a transaction, and never more at a time than there are committers, so that each step has its own.
func BenchmarkCommit(b *testing.B) {
	const holders, committers = 16, 2

	for name, atOnce := range map[string]int64{"grouped": holders, "one by one": committers} {
		b.Run(name, func(b *testing.B) {
			db, err := postgres.Open(b.Context(), postgres.Config{URL: pgtest.New(b), Clock: clockwork.NewFakeClockAt(storetest.Epoch())})
			require.NoError(b, err)
			db.Start()
			b.Cleanup(db.Stop)

			executions := make([]tarsy.Execution, holders)
			leases := make([]*postgres.Holder, holders)

			for i := range holders {
				require.NoError(b, db.CreateSession(b.Context(), storetest.NewSession(storetest.Epoch()), postgres.Terms{}))

				claims, err := db.Claim(b.Context(), postgres.ClaimParams{Version: 1, Has: storetest.DefaultCapabilities(), ServerID: storetest.ServerA, Slots: 1, MaxSessions: storetest.NoLimit, Lease: storetest.Lease})
				require.NoError(b, err)
				require.Len(b, claims, 1)

				stage := storetest.NewStage(claims[0].SessionID, 1, storetest.Epoch())
				executions[i], leases[i] = storetest.NewExecution(stage, 1, storetest.Epoch()), db.Hold(claims[0].Lease)

				_, err = leases[i].Commit(b.Context(), progress.Step{Stages: []tarsy.Stage{stage}, Executions: executions[i : i+1]})
				require.NoError(b, err)
			}

			room := semaphore.NewWeighted(atOnce)
			events := storetest.NewEvents("event", 2)

			var group errgroup.Group

			b.ResetTimer()

			for i := range holders {
				group.Go(func() error {
					for n := i; n < b.N; n += holders {
						if err := room.Acquire(context.Background(), 1); err != nil {
							return err
						}

						_, err := leases[i].Commit(context.Background(), progress.Step{
							Messages: []tarsy.Message{storetest.NewMessage(executions[i], n+1, fmt.Sprint("message ", n), storetest.Epoch())}, Events: events,
						})

						room.Release(1)

						if err != nil {
							return err
						}
					}

					return nil
				})
			}

			require.NoError(b, group.Wait())
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "commits/s")
		})
	}
}
