package flow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
)

func lineToOutput(_ context.Context, l line) (output, error) { return output(l), nil }

func TestEntriesPassThroughRoutesInOrderAndAreKept(t *testing.T) {
	t.Parallel()

	c := newChain(t)
	require.NoError(t, c.Start(within(t)))

	for i := range 50 {
		c.source.feed <- fmt.Sprint(i)
	}

	for i := range 50 {
		require.Equal(t, fmt.Sprintf("re: %d", i), <-c.sink.got)
	}

	require.NoError(t, c.WaitIdle(within(t)))
	require.NoError(t, c.Stop(within(t)))

	var kept []string

	for record, err := range c.worker.Journal().Backward(t.Context(), 0) {
		require.NoError(t, err)

		kept = append(kept, record.Entry.String())
	}

	require.Len(t, kept, 150)
	require.Equal(t, []string{"flow_test.answer{Text:re: 49}", "flow_test.aside{Text:about 49}"}, kept[:2])
	require.Contains(t, kept, "flow_test.prompt{Text:49}")
}

// Input that ends, as in `echo question | program`, is answered before the program ends.
func TestRunEndsWhenInputsEndedAndEverythingIsHandled(t *testing.T) {
	t.Parallel()

	c := newChain(t)

	for i := range 10 {
		c.source.feed <- fmt.Sprint(i)
	}

	close(c.source.feed)

	require.NoError(t, c.Run(within(t)))
	require.Len(t, c.sink.got, 10)
}

func TestRunEndsWithItsContextWithoutAnError(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(within(t))
	c := newChain(t)
	ended := make(chan error, 1)

	go func() { ended <- c.Run(ctx) }() // ends with the context

	for _, daemon := range c.Daemons() {
		require.NoError(t, daemon.WaitFor(within(t), flow.StatusRunning))
	}

	cancel()
	require.NoError(t, <-ended)

	for _, daemon := range c.Daemons() {
		require.Equal(t, flow.StatusStopped, daemon.Status())
	}
}

func TestRunGivesDaemonsTenSecondsToStop(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		branch := flow.NewBranch("printer")
		release := make(chan struct{})
		branch.Input("printer input", func(_ context.Context, ready func()) error {
			ready()
			cancel()
			<-release

			return nil
		})

		built, err := flow.Build([]*flow.Branch{branch})
		require.NoError(t, err)

		began := time.Now()
		require.EqualError(t, built.Run(ctx), "printer input did not stop: no answer within 10s")
		require.Equal(t, 10*time.Second, time.Since(began))
		close(release)
	})
}

func TestFailedRouteEndsTheRunWithItsError(t *testing.T) {
	t.Parallel()

	source, sink := newSource("source"), newSink("sink")
	built, err := flow.Build([]*flow.Branch{source.Branch, sink.Branch},
		flow.Route(source.lines, sink.outputs, func(_ context.Context, l line) (output, error) {
			switch l.Text {
			case "skip":
				return output{}, flow.ErrSkip
			case "fail":
				return output{}, errors.New("no translation")
			}

			return output(l), nil
		}))
	require.NoError(t, err)

	ended := make(chan error, 1)
	go func() { ended <- built.Run(within(t)) }()

	source.feed <- "skip"
	source.feed <- "one"

	// Run does not wait for entries in flight when it ends.
	require.Equal(t, "one", <-sink.got)

	source.feed <- "fail"
	source.feed <- "two"

	err = <-ended
	require.EqualError(t, err, "routes of source: entry 3: flow_test.line → flow_test.output: no translation")
	require.Empty(t, sink.got)
	require.EqualError(t, built.Failures(), err.Error())
}

func TestWaitIdleReturnsTheFailureThatKeepsTheFlowBusy(t *testing.T) {
	t.Parallel()

	branch := flow.NewBranch("loop")
	lines := flow.Produces[line](branch)
	outputs := flow.Consumes(branch, func(context.Context, output) error { return errors.New("broken printer") })
	built, err := flow.Build([]*flow.Branch{branch}, flow.Route(lines, outputs, lineToOutput))
	require.NoError(t, err)
	require.NoError(t, built.Start(within(t)))
	require.NoError(t, lines.Send(t.Context(), line{"a"}))

	require.ErrorContains(t, built.WaitIdle(within(t)), "loop consumes flow_test.output failed: entry 2: broken printer")
	require.ErrorContains(t, built.Stop(within(t)), "broken printer")
}

func TestFlowIsNotIdleWhileSomethingIsPending(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		branch := flow.NewBranch("inbox")
		branch.Pending()() // not part of a flow yet

		built, err := flow.Build([]*flow.Branch{branch})
		require.NoError(t, err)

		done := branch.Pending()
		idle := make(chan error, 1)

		go func() { idle <- built.WaitIdle(t.Context()) }()

		synctest.Wait()
		require.Empty(t, idle)
		done()
		require.NoError(t, <-idle)
		synctest.Wait()
	})
}

func TestHistoryInAJournalIsNotHandledAgain(t *testing.T) {
	t.Parallel()

	old := journal.NewMemory[flow.Entry](clockwork.NewRealClock())
	_, err := old.Append(t.Context(), flow.NewEntry(line{"old"}), flow.NewEntry(output{"old"}))
	require.NoError(t, err)

	source, sink := newSource("source"), newSink("sink")
	source.KeepIn(old)
	sink.KeepIn(old)

	built, err := flow.Build([]*flow.Branch{source.Branch, sink.Branch}, flow.Route(source.lines, sink.outputs, lineToOutput))
	require.NoError(t, err)

	source.feed <- "new"
	close(source.feed)
	require.NoError(t, built.Run(within(t)))
	require.Equal(t, "new", <-sink.got)
	require.Empty(t, sink.got)
}

func TestStartListsTheDaemonsThatDoNotRun(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		slow := flow.NewBranch("slow")
		slow.Input("slow input", func(ctx context.Context, _ func()) error {
			<-ctx.Done()

			return context.Cause(ctx)
		})

		built, err := flow.Build([]*flow.Branch{slow})
		require.NoError(t, err)

		ctx, cancel := context.WithTimeoutCause(t.Context(), 30*time.Second, errors.New("30 s have passed"))
		defer cancel()

		began := time.Now()
		err = built.Start(ctx)
		require.EqualError(t, err, "the flow did not start: slow input is starting, not running: 30 s have passed\n"+
			"not running: slow input (starting)")
		require.Equal(t, 30*time.Second, time.Since(began))
		require.NoError(t, built.Stop(t.Context()))
	})
}

func TestDaemonsStopInReverseOrder(t *testing.T) {
	t.Parallel()

	c := newChain(t)
	require.NoError(t, c.Start(within(t)))
	require.NoError(t, c.Stop(within(t)))
	require.NoError(t, c.Stop(within(t)), "stopping twice does nothing")

	var started, stopped []string

	for record, err := range c.Statuses().Backward(t.Context(), 0) {
		require.NoError(t, err)

		switch record.Entry.Status {
		case flow.StatusStarting:
			started = append(started, record.Entry.Daemon)
		case flow.StatusStopped:
			stopped = append([]string{record.Entry.Daemon}, stopped...)
		default:
			require.Equal(t, flow.StatusRunning, record.Entry.Status)
		}
	}

	require.Equal(t, []string{
		"source input", "routes of worker", "routes of source",
		"sink consumes flow_test.output", "worker consumes flow_test.prompt",
	}, started)
	require.Equal(t, started, stopped)
}

func TestEntriesAreDecodedFromTheirStoredForm(t *testing.T) {
	t.Parallel()

	stored, err := flow.NewEntry(line{"hello"}).MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"flow_test.line","value":{"Text":"hello"}}`, string(stored))

	var entry flow.Entry

	require.NoError(t, entry.UnmarshalJSON(stored))
	require.True(t, flow.Is[line](entry))

	value, err := flow.As[line](entry)
	require.NoError(t, err)
	require.Equal(t, line{"hello"}, value)

	again, err := entry.MarshalJSON()
	require.NoError(t, err)
	require.Equal(t, string(stored), string(again))

	_, err = flow.As[output](entry)
	require.EqualError(t, err, "the entry is of type flow_test.line, not flow_test.output")

	require.NoError(t, entry.UnmarshalJSON([]byte(`{"type":"flow_test.line","value":3}`)))
	_, err = flow.As[line](entry)
	require.ErrorContains(t, err, "decode an entry of type flow_test.line")
}
