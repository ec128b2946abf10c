package engine

import (
	"context"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/ident"
	"tarsy.dev/tarsy/internal/postgres"
	"tarsy.dev/tarsy/internal/progress"
)

// remembered returns a memory that queues its steps to a list.
func remembered(state progress.State) (*memory, *[]progress.Step) {
	m, queued := &memory{}, &[]progress.Step{}
	m.load(&state, func(step progress.Step) *postgres.Pending {
		*queued = append(*queued, step)

		return nil
	})

	return m, queued
}

func TestMemoryBuildsAndQueuesStepAsOneOperation(t *testing.T) {
	t.Parallel()

	const steps = 200

	m, queued := remembered(progress.State{Timeline: []tarsy.TimelineEvent{{ID: "old", SequenceNumber: 7}}})

	var group sync.WaitGroup
	for range steps {
		group.Go(func() {
			m.submit(func(state *progress.State, sequence func() int64) progress.Step {
				index := len(state.Stages) + 1
				runtime.Gosched() // gives other goroutines a chance to interleave

				return progress.Step{
					Stages:   []tarsy.Stage{{ID: ident.New(), StageIndex: index}},
					Timeline: []tarsy.TimelineEvent{{ID: ident.New(), SequenceNumber: sequence()}},
				}
			})
		})
	}

	group.Wait()
	require.Len(t, *queued, steps)

	for i, step := range *queued {
		require.Equal(t, i+1, step.Stages[0].StageIndex, "a step was built from a state that another step had left behind")
		require.EqualValues(t, i+8, step.Timeline[0].SequenceNumber)
	}
}

func TestMemoryIsNotReadWhileStepIsBuilt(t *testing.T) {
	t.Parallel()

	m, _ := remembered(progress.State{})
	read := make(chan struct{})

	m.submit(func(*progress.State, func() int64) progress.Step {
		go m.read(func(*progress.State) { close(read) })

		for range 10_000 {
			runtime.Gosched()
		}

		select {
		case <-read:
			t.Error("the state was read while a step was built")
		default:
		}

		return progress.Step{}
	})

	<-read
}

func TestCancelRequestIsShownAndStopsRoundImmediately(t *testing.T) {
	t.Parallel()

	cancel := []tarsy.Request{{ID: "q", Kind: tarsy.RequestCancel}}

	for name, test := range map[string]struct {
		status   tarsy.SessionStatus
		requests []tarsy.Request
		steps    int
		stopped  bool
	}{
		"in progress":        {tarsy.SessionInProgress, cancel, 1, true},
		"pending":            {tarsy.SessionPending, cancel, 0, true},
		"already cancelling": {tarsy.SessionCancelling, cancel, 0, true},
		"completed":          {tarsy.SessionCompleted, cancel, 0, false},
		"a question":         {tarsy.SessionInProgress, []tarsy.Request{{ID: "q", Kind: tarsy.RequestChat}}, 0, false},
		"nothing":            {tarsy.SessionInProgress, nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			m, queued := remembered(progress.State{Session: tarsy.Session{Status: test.status}})
			ctx, stop := context.WithCancelCause(t.Context())
			require.NoError(t, m.beginRound(stop, func(*progress.State) {}))

			m.setRequests(test.requests, time.Unix(1, 0))
			require.Len(t, *queued, test.steps)
			require.Equal(t, test.stopped, ctx.Err() != nil)

			if test.stopped {
				require.ErrorIs(t, context.Cause(ctx), errCancelRequested)
			}

			m.read(func(state *progress.State) { require.Equal(t, test.requests, state.Requests) })
			require.NoError(t, m.beginRound(stop, func(*progress.State) {}), "the next round cancels")
		})
	}
}

func TestNoRoundStartsAfterLeaseLossOrStop(t *testing.T) {
	t.Parallel()

	for _, cause := range []error{postgres.ErrFenceLost, errHandOver} {
		m, _ := remembered(progress.State{})
		ctx, stop := context.WithCancelCause(t.Context())
		require.NoError(t, m.beginRound(stop, func(*progress.State) {}))

		m.interrupt(cause)
		require.ErrorIs(t, context.Cause(ctx), cause)
		require.ErrorIs(t, m.beginRound(stop, func(*progress.State) { t.Error("planned") }), cause)
	}
}

func TestLeaseExpiryNeverMovesBack(t *testing.T) {
	t.Parallel()

	m, _ := remembered(progress.State{})
	m.extendLease(time.Unix(20, 0), true)
	m.extendLease(time.Unix(10, 0), false)
	require.Equal(t, time.Unix(20, 0), m.leaseEnd())
}
