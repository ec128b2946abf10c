package flow_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
)

func statuses(t *testing.T, kept journal.Reader[flow.StatusChange]) (all []flow.StatusChange) {
	t.Helper()

	for record, err := range kept.Backward(t.Context(), 0) {
		require.NoError(t, err)

		all = append([]flow.StatusChange{record.Entry}, all...)
	}

	return all
}

func TestDaemonWritesItsStatusesAndKeepsItsFailure(t *testing.T) {
	t.Parallel()

	untilStopped := func(ctx context.Context) error {
		<-ctx.Done()

		return context.Cause(ctx)
	}

	tests := map[string]struct {
		run    func(ctx context.Context) error
		stop   bool
		want   flow.Status
		failed string
	}{
		"work that ends by itself is completed": {
			run:  func(context.Context) error { return nil },
			want: flow.StatusCompleted,
		},
		"work that is stopped has not failed": {run: untilStopped, stop: true, want: flow.StatusStopped},
		"work that returns the error of its cancelled context has not failed": {
			run: func(ctx context.Context) error {
				_ = untilStopped(ctx)

				return ctx.Err()
			},
			stop: true, want: flow.StatusStopped,
		},
		"an error is a failure": {
			run:  func(context.Context) error { return errors.New("no paper") },
			want: flow.StatusFailed, failed: "d: no paper",
		},
		"an error while stopping is a failure": {
			run: func(ctx context.Context) error {
				_ = untilStopped(ctx)

				return errors.New("could not save")
			},
			stop: true, want: flow.StatusFailed, failed: "d: could not save",
		},
		"a panic is a failure": {
			run:  func(context.Context) error { panic("out of range") },
			want: flow.StatusFailed, failed: "d: panic: out of range",
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kept := journal.NewMemory[flow.StatusChange](clockwork.NewRealClock())
			daemon := flow.NewDaemon("d", kept, func(ctx context.Context, ready func()) error {
				ready()
				ready()

				return test.run(ctx)
			})

			daemon.Start(t.Context())
			require.NoError(t, daemon.WaitFor(within(t), flow.StatusRunning))

			if test.stop {
				require.NoError(t, daemon.Stop(within(t)))
			}

			require.NoError(t, daemon.WaitFor(within(t), test.want))
			require.NoError(t, daemon.Stop(within(t)))

			if test.failed == "" {
				require.NoError(t, daemon.Err())
			} else {
				require.ErrorContains(t, daemon.Err(), test.failed)
			}

			all := statuses(t, kept)
			require.Len(t, all, 3)
			require.Equal(t, flow.StatusStarting, all[0].Status)
			require.Equal(t, flow.StatusRunning, all[1].Status)
			require.Equal(t, test.want, all[2].Status)
			require.Equal(t, test.failed != "", all[2].Error != "")

			daemon.Start(t.Context())
			require.Equal(t, test.want, daemon.Status(), "a daemon is started once")
		})
	}
}

func TestDaemonStoppedBeforeItStartsNeverRuns(t *testing.T) {
	t.Parallel()

	kept := journal.NewMemory[flow.StatusChange](clockwork.NewRealClock())
	daemon := flow.NewDaemon("d", kept, func(context.Context, func()) error { panic("must not run") })

	require.Equal(t, flow.StatusNew, daemon.Status())
	require.NoError(t, daemon.Stop(t.Context()))
	daemon.Start(t.Context())
	require.EqualError(t, daemon.WaitFor(t.Context(), flow.StatusRunning), "d is stopped and will not be running")
}

func TestStuckDaemonIsNamedWhenStoppingTakesTooLong(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		daemon := flow.NewDaemon("stdin pump", journal.NewMemory[flow.StatusChange](clockwork.NewRealClock()),
			func(_ context.Context, ready func()) error {
				ready()
				<-release

				return nil
			})
		daemon.Start(t.Context())

		ctx, cancel := context.WithTimeoutCause(t.Context(), 10*time.Second, errors.New("10 s have passed"))
		defer cancel()

		require.EqualError(t, daemon.Stop(ctx), "stdin pump did not stop: 10 s have passed")

		close(release)
		require.NoError(t, daemon.Stop(t.Context()))
		require.Equal(t, flow.StatusStopped, daemon.Status())
	})
}

func TestWaitingForAStatusEndsWithTheFailure(t *testing.T) {
	t.Parallel()

	daemon := flow.NewDaemon("d", journal.NewMemory[flow.StatusChange](clockwork.NewRealClock()),
		func(context.Context, func()) error { return errors.New("no route to host") })
	daemon.Start(t.Context())

	require.EqualError(t, daemon.WaitFor(within(t), flow.StatusRunning), "d failed: no route to host")
}
