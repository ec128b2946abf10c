package flowtest_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/internal/kit/testfailure"
)

func TestEachWaitHasItsTimeLimit(t *testing.T) {
	t.Parallel()

	const minute = time.Minute

	all := flowtest.WithTimeouts(flowtest.Timeouts{Start: minute, Stop: minute, Assertion: minute})
	line := flowtest.Expect[console.Line]("a line")

	tests := map[string]struct {
		test func(testing.TB)
		want time.Duration
		text string
	}{
		"start by default": {
			func(t testing.TB) { flowtest.New(t, stuck).Start() }, 30 * time.Second,
			"slow input is starting, not running: the time limit of 30s was reached\nnot running: slow input (starting)",
		},
		"stop by default": {
			func(t testing.TB) { flowtest.New(t, slowToStop(11*time.Second)).Start() }, 10 * time.Second,
			"slow input did not stop: the time limit of 10s was reached",
		},
		"wait by default": {
			func(t testing.TB) { start(t).Console().WaitLine() }, 5 * time.Second, "the time limit of 5s was reached",
		},
		"start as told":         {func(t testing.TB) { flowtest.New(t, stuck, all).Start() }, minute, "the time limit of 1m0s was reached"},
		"wait as told":          {func(t testing.TB) { start(t, all).Console().WaitLine() }, minute, "the time limit of 1m0s was reached"},
		"limits that are unset": {func(t testing.TB) { start(t, unset()).Console().WaitLine() }, 5 * time.Second, "the time limit of 5s was reached"},
		"one line":              {func(t testing.TB) { start(t).Console().WaitLine(flowtest.Within(minute)) }, minute, "the time limit of 1m0s was reached"},
		"one line on the error stream": {
			func(t testing.TB) { start(t).Console().WaitError(flowtest.Within(minute)) }, minute, "a line on the error stream",
		},
		"one match": {
			func(t testing.TB) {
				start(t).Console().WaitMatch("a word", func(string) bool { return false }, flowtest.Within(minute))
			}, minute, "waited for a word",
		},
		"several lines": {func(t testing.TB) { start(t).Console().Collect(3, flowtest.Within(minute)) }, minute, "waited for 3 lines of output"},
		"one entry":     {func(t testing.TB) { start(t).WaitEntry("console", line, flowtest.Within(minute)) }, minute, "waited for a line"},
		"quiet": {
			func(t testing.TB) {
				h := flowtest.New(t, emptyBranch, flowtest.WithConsole()).Start()
				h.Console().Send("x")
				h.Console().AssertQuiet(flowtest.Within(minute))
			}, minute, "the program has not read its input",
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				require.Contains(t, testfailure.Of(t, test.test), test.text)
				require.Equal(t, test.want, time.Since(began))
				time.Sleep(time.Minute) //nolint:forbidigo // the time of a synctest bubble
			})
		})
	}
}

// The limit covers all lines together, however regularly they arrive.
func TestCollectHasOneTimeLimitForAllLines(t *testing.T) {
	t.Parallel()

	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		failure := testfailure.Of(t, func(t testing.TB) {
			flowtest.New(t, ticking, flowtest.WithConsole()).Start().Console().Collect(4, flowtest.Within(10*time.Second))
		})
		require.Contains(t, failure, `output until then: ["[clock]: tick" "[clock]: tick" "[clock]: tick"]`)
		require.Equal(t, 10*time.Second, time.Since(began))
	})
}

func unset() flowtest.Option { return flowtest.WithTimeouts(flowtest.Timeouts{Start: time.Hour}) }

// slowToStop is a program that takes a while to stop.
func slowToStop(pause time.Duration) program.Configure {
	return func(*program.Env) (*flow.Flow, error) {
		branch := flow.NewBranch("slow")
		branch.Input("slow input", func(ctx context.Context, ready func()) error {
			ready()
			<-ctx.Done()
			time.Sleep(pause) //nolint:forbidigo // the time of a synctest bubble

			return nil
		})

		return flow.Build([]*flow.Branch{branch})
	}
}

// tick is the entry that ticking produces.
type tick struct{}

// ticking prints a line every three seconds.
func ticking(env *program.Env) (*flow.Flow, error) {
	desk := console.New(console.Config{In: env.In, Out: env.Out})
	clock := flow.NewBranch("clock")
	ticks := flow.Produces[tick](clock)
	clock.Input("clock input", func(ctx context.Context, ready func()) error {
		ready()

		for {
			select {
			case <-time.After(3 * time.Second): //nolint:forbidigo // the time of a synctest bubble
			case <-ctx.Done():
				return context.Cause(ctx)
			}

			if err := ticks.Send(ctx, tick{}); err != nil {
				return err
			}
		}
	})

	return flow.Build([]*flow.Branch{desk.Branch, clock}, flow.Terminal(desk.Lines),
		flow.Route(ticks, desk.Messages, func(context.Context, tick) (console.Message, error) {
			return console.Message{Sender: "clock", Text: "tick"}, nil
		}))
}
