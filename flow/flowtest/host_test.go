package flowtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/agent"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/internal/kit/testfailure"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// chat is a program with a console and a model whose answers are streamed by sentence.
func chat(env *program.Env) (*flow.Flow, error) {
	desk := console.New(console.Config{In: env.In, Out: env.Out, Err: env.Err})
	bot := agent.New(agent.Config{
		Client: env.LLM, Model: env.Model, Clock: env.Clock, Window: env.Window(flow.WindowSentence),
	})

	kept, err := env.Journal("chat")
	if err != nil {
		return nil, err
	}

	desk.KeepIn(kept)

	return flow.Build([]*flow.Branch{desk.Branch, bot.Branch},
		flow.Route(desk.Lines, bot.Prompts, func(_ context.Context, l console.Line) (agent.Prompt, error) {
			if l.Text == "crash" {
				panic("out of paper")
			}

			return agent.Prompt{Text: l.Text}, nil
		}),
		flow.Route(bot.Responses, desk.Messages, func(_ context.Context, r agent.Response) (console.Message, error) {
			return console.Message{Sender: "bot", Text: r.Text}, nil
		}),
		flow.Route(bot.Failures, desk.Messages, func(_ context.Context, f agent.Failure) (console.Message, error) {
			return console.Message{Sender: "error", Text: f.Error, Error: true}, nil
		}),
		flow.Terminal(bot.Thoughts),
	)
}

func start(t testing.TB, options ...flowtest.Option) *flowtest.Host {
	t.Helper()

	return flowtest.New(t, chat, append([]flowtest.Option{flowtest.WithConsole(), flowtest.WithLLM()}, options...)...).Start()
}

func TestConversationIsDrivenThroughTheVirtualConsole(t *testing.T) {
	t.Parallel()

	h := start(t)
	h.LLM().EnqueueThoughts([]string{"Hm", "m."}, []string{"On", "e. T", "wo."})
	h.LLM().Enqueue("Three.")

	h.Console().Send("Count")
	require.Equal(t, []string{"[bot]: One. ", "[bot]: Two."}, h.Console().Collect(2))

	h.Console().Send("Go on")
	require.Equal(t, "[bot]: Three.", h.Console().WaitMatch("the third number", func(line string) bool {
		return strings.Contains(line, "Three")
	}))
	require.Equal(t, []string{"Count", "Go on"}, h.LLM().Prompts())
	require.Len(t, h.LLM().Requests()[1].Messages, 3)

	h.AssertOrdered("console",
		flowtest.Expect("the question", func(l console.Line) bool { return l.Text == "Count" }),
		flowtest.Expect("the answer", func(m console.Message) bool { return m.Text == "Two." }),
		flowtest.Expect[console.Printed]("its print"),
	)
	require.Equal(t, "Hmm.", flowtest.Entries[agent.Thought](h, "agent")[0].Text)
	require.True(t, flow.Is[console.Line](h.WaitEntry("console", flowtest.Expect[console.Line]("a line"))))
	h.Console().AssertQuiet()
	require.Len(t, h.Console().Times(), 3)
}

// The journal contains what the model sent, in order: thoughts, then the response, then its end, with the same metadata.
func TestScriptedResponseIsInTheJournalAsItCame(t *testing.T) {
	t.Parallel()

	h := start(t, flowtest.WithEnv(func(env *program.Env) { env.Model = "gpt-4o" }))
	h.LLM().EnqueueThoughts([]string{"Hm", "m."}, []string{"Hel", "lo."})
	h.Console().Send("Hi")
	h.WaitQuiet()

	id := flowtest.Entries[agent.StreamCompleted](h, "agent")[0].ResponseID
	require.NotEmpty(t, id)

	thought := func(text string) flowtest.Step {
		return flowtest.Expect(text, func(c agent.ThoughtChunk) bool { return c.Text == text && c.ResponseID == id && c.Model == "gpt-4o" })
	}
	chunk := func(text string) flowtest.Step {
		return flowtest.Expect(text, func(c agent.Chunk) bool { return c.Text == text && c.ResponseID == id && c.Model == "gpt-4o" })
	}

	h.AssertOrdered("agent", flowtest.Expect[agent.Prompt]("the prompt"), thought("Hm"), thought("m."), chunk("Hel"), chunk("lo."),
		flowtest.Expect("the end", func(c agent.StreamCompleted) bool { return c.Text == "Hello." && c.Model == "gpt-4o" }))
	require.Len(t, flowtest.Entries[agent.Chunk](h, "agent"), 2)
	require.Equal(t, "gpt-4o", h.LLM().Requests()[0].Model)
}

// Each scripted response can name its model; the default is the model that the program requests.
func TestEachScriptedResponseHasItsModel(t *testing.T) {
	t.Parallel()

	h := start(t, flowtest.WithEnv(func(env *program.Env) { env.Model = "gpt-4o" }))
	h.LLM().WithModel("gpt-4o-mini").EnqueueThoughts([]string{"Hm."}, []string{"One."})
	h.LLM().Enqueue("Two.")
	h.LLM().WithModel("o3").EnqueueFailure(errors.New("quota exceeded"), "Thr")

	for _, prompt := range []string{"first", "second", "third"} {
		h.Console().Send(prompt)
	}

	h.WaitQuiet()

	completed := flowtest.Entries[agent.StreamCompleted](h, "agent")
	require.Len(t, completed, 2)
	require.Equal(t, []string{"gpt-4o-mini", "gpt-4o"}, []string{completed[0].Model, completed[1].Model})
	require.NotEqual(t, completed[0].ResponseID, completed[1].ResponseID)
	require.False(t, completed[0].Timestamp.IsZero())

	require.Equal(t, completed[0].Meta, flowtest.Entries[agent.ThoughtChunk](h, "agent")[0].Meta)
	require.Equal(t, completed[0].Meta, flowtest.Entries[agent.Thought](h, "agent")[0].Meta)
	require.Equal(t, completed[0].Meta, flowtest.Entries[agent.Response](h, "agent")[0].Meta)

	var models []string
	for _, chunk := range flowtest.Entries[agent.Chunk](h, "agent") {
		models = append(models, chunk.Text+" "+chunk.Model)
	}

	require.Equal(t, []string{"One. gpt-4o-mini", "Two. gpt-4o", "Thr o3"}, models)
	require.Equal(t, "o3", flowtest.Entries[agent.Failure](h, "agent")[0].Model)
}

func TestQuietIsKnownWithoutWaitingForTimeToPass(t *testing.T) {
	t.Parallel()

	h := start(t)
	h.Console().Send("")
	h.Console().AssertQuiet()

	h.LLM().Enqueue("One. Two. Three.")
	h.Console().Send("Count")
	require.Equal(t, []string{"[bot]: One. Two. ", "[bot]: Three."}, h.Console().CollectUntilQuiet())
	require.Empty(t, h.Console().Drain())
}

func TestPoliciesAndClockAreReplaced(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()
	h := start(t, flowtest.WithWindow(flow.WindowImmediate), flowtest.WithShatter(flow.ShatterNone), flowtest.WithClock(clock))
	h.LLM().EnqueueStream("a", "b")
	h.Console().Send("go")
	require.Equal(t, []string{"[bot]: a", "[bot]: b"}, h.Console().Collect(2))

	for _, record := range flowtest.Records[console.Printed](h, "console") {
		require.Equal(t, clock.Now(), record.At)
	}

	require.Equal(t, []time.Time{clock.Now(), clock.Now()}, h.Console().Times())
}

func TestModelFailuresAreScripted(t *testing.T) {
	t.Parallel()

	h := start(t)
	h.LLM().EnqueueFailure(errors.New("quota exceeded"))
	h.LLM().EnqueueFailure(errors.New("connection lost"), "Half. ", "An ans")
	h.Console().Send("Hello")
	require.Equal(t, "[error]: quota exceeded", h.Console().WaitError())

	h.Console().Send("Again")
	require.Equal(t, []string{"[bot]: Half. ", "[bot]: An ans"}, h.Console().CollectUntilQuiet())
	require.Equal(t, []string{"[error]: connection lost"}, h.Console().DrainErrors())
}

// A program can recover from the error, but the test did not expect the call.
func TestMissingResponseIsReportedToTheUserAndFailsTheTest(t *testing.T) {
	t.Parallel()

	var printed []string

	failure := testfailure.Of(t, func(t testing.TB) {
		h := start(t)
		h.Console().Send("What is the capital of Peru?")
		printed = append(printed, h.Console().WaitError())
	})
	require.Contains(t, printed[0], "the script has no reply")
	require.Contains(t, failure, "the model was called but no response was enqueued: call 1: the script has no reply")
	require.Contains(t, failure, "What is the capital of Peru?")
}

func TestProgramEndsWithItsInput(t *testing.T) {
	t.Parallel()

	h := start(t)
	h.LLM().Enqueue("Bye.")
	h.Console().Send("Good night")
	h.Console().End()
	require.Equal(t, "[bot]: Bye.", h.Console().WaitLine())
	h.Stop()
	h.Stop()

	require.Contains(t, testfailure.Of(t, func(inner testing.TB) {
		h := start(inner)
		h.Console().End()
		h.Console().Send("too late")
	}), "the console input has ended")
}

func TestFailuresReportWhatHappened(t *testing.T) {
	t.Parallel()

	short := flowtest.WithTimeouts(flowtest.Timeouts{Assertion: 20 * time.Millisecond})

	tests := map[string]struct {
		test func(testing.TB)
		want []string
	}{
		"no output": {
			func(t testing.TB) { start(t, short).Console().WaitLine() },
			[]string{"waited for a line of output: the time limit of 20ms was reached; pending input: 0 line(s); output until then: []"},
		},
		"no match": {
			func(t testing.TB) {
				h := start(t, short)
				h.LLM().Enqueue("Hello.")
				h.Console().Send("Hi")
				h.WaitEntry("console", flowtest.Expect[console.Printed]("print"))
				h.Console().WaitMatch("farewell", func(line string) bool { return line == "[bot]: Bye." })
			},
			[]string{"waited for farewell: the time limit of 20ms", `output until then: ["[bot]: Hello."]`},
		},
		"too few lines": {
			func(t testing.TB) {
				h := start(t, short)
				h.LLM().Enqueue("Hello.")
				h.Console().Send("Hi")
				h.WaitEntry("console", flowtest.Expect[console.Printed]("print"))
				h.Console().Collect(2)
			},
			[]string{"waited for 2 lines of output: the time limit of 20ms", `output until then: ["[bot]: Hello."]`},
		},
		"input that is not read": {
			func(t testing.TB) {
				h := flowtest.New(t, emptyBranch, flowtest.WithConsole(), short).Start()
				h.Console().Send("one")
				h.Console().Send("two")
				h.Console().WaitLine()
			},
			[]string{"pending input: 2 line(s)"},
		},
		"input that is never read": {
			func(t testing.TB) {
				h := flowtest.New(t, emptyBranch, flowtest.WithConsole(), short).Start()
				h.Console().Send("one")
				h.Console().AssertQuiet()
			},
			[]string{"the program has not read its input: 1 line(s) pending"},
		},
		"not quiet": {
			func(t testing.TB) {
				h := start(t)
				h.LLM().Enqueue("Hello.")
				h.Console().Send("Hi")
				h.Console().AssertQuiet()
			},
			[]string{"expected no output, got:\n[bot]: Hello."},
		},
		"wrong order": {
			func(t testing.TB) {
				h := start(t)
				h.LLM().Enqueue("Hello.")
				h.Console().Send("Hi")
				h.WaitQuiet()
				h.AssertOrdered("console",
					flowtest.Expect[console.Message]("the answer"), flowtest.Expect[console.Line]("the question"))
			},
			[]string{
				`1 of 2 steps found in the journal of "console"; missing, in this order: the question`,
				"   1    console.Line{Sender:user Text:Hi}", "✓ the answer ← console.Message{Sender:bot Text:Hello.",
			},
		},
		"no such entry": {
			func(t testing.TB) {
				start(t, short).WaitEntry("console", flowtest.Expect[console.Line]("a line"))
			},
			[]string{`waited for a line in the journal of "console": the time limit of 20ms was reached`},
		},
		"no such branch": {
			func(t testing.TB) { start(t).Journal("desk") },
			[]string{`there is no branch "desk"; there are: console, agent`},
		},
		"panic in the background": {
			func(t testing.TB) {
				h := start(t)
				h.Console().Send("crash")
				h.WaitQuiet()
			},
			[]string{"the flow is still busy: routes of console failed: panic: out of paper", "the flow ended with errors"},
		},
		"nothing configured": {
			func(t testing.TB) {
				flowtest.New(t, func(*program.Env) (*flow.Flow, error) { return nil, errors.New("no such setting") })
			},
			[]string{"configure the program: no such setting"},
		},
		"a type without a rule": {
			func(t testing.TB) {
				flowtest.New(t, func(env *program.Env) (*flow.Flow, error) {
					return flow.Build([]*flow.Branch{console.New(console.Config{In: env.In, Out: env.Out}).Branch})
				}, flowtest.WithConsole())
			},
			[]string{
				"configure the program: the flow has 2 problem(s):",
				`"console" produces console.Line, but it has neither a route nor a terminal`,
			},
		},
		"two failures in the background": {
			func(t testing.TB) { flowtest.New(t, twiceBroken).Start() },
			[]string{"the flow ended with errors: reader: no paper\nwriter: no ink"},
		},
		"no console": {
			func(t testing.TB) { flowtest.New(t, emptyBranch).Console() },
			[]string{"the virtual console is not configured: pass flowtest.WithConsole() to flowtest.New"},
		},
		"no model": {
			func(t testing.TB) { flowtest.New(t, emptyBranch).LLM() },
			[]string{"the virtual model is not configured: pass flowtest.WithLLM() to flowtest.New"},
		},
		"no Discord": {
			func(t testing.TB) { flowtest.New(t, emptyBranch).Discord() },
			[]string{"the virtual Discord is not configured: pass flowtest.WithDiscord() to flowtest.New"},
		},
		"slow start": {
			func(t testing.TB) {
				flowtest.New(t, stuck, flowtest.WithTimeouts(flowtest.Timeouts{Start: 10 * time.Millisecond})).Start()
			},
			[]string{"the flow did not start", "not running: slow input (starting)"},
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := testfailure.Of(t, test.test)
			for _, want := range test.want {
				require.Contains(t, got, want)
			}
		})
	}
}

func TestStuckDaemonIsNamedAtTheEnd(t *testing.T) {
	t.Parallel()

	release := make(chan struct{})
	defer close(release)

	require.Contains(t, testfailure.Of(t, func(t testing.TB) {
		flowtest.New(t, func(*program.Env) (*flow.Flow, error) {
			branch := flow.NewBranch("printer")
			branch.Input("printer input", func(_ context.Context, ready func()) error {
				ready()
				<-release

				return nil
			})

			return flow.Build([]*flow.Branch{branch})
		}, flowtest.WithTimeouts(flowtest.Timeouts{Stop: 10 * time.Millisecond})).Start()
	}), "printer input did not stop: the time limit of 10ms was reached")
}

// emptyBranch is a program with a single branch that has no ports.
func emptyBranch(*program.Env) (*flow.Flow, error) {
	return flow.Build([]*flow.Branch{flow.NewBranch("empty")})
}

// twiceBroken is a program with two daemons that fail as soon as they run.
func twiceBroken(*program.Env) (*flow.Flow, error) {
	branch := flow.NewBranch("desk")

	for _, part := range []struct{ name, failure string }{{"reader", "no paper"}, {"writer", "no ink"}} {
		branch.Input(part.name, func(_ context.Context, ready func()) error {
			ready()

			return errors.New(part.failure)
		})
	}

	return flow.Build([]*flow.Branch{branch})
}

// stuck is a program that never becomes ready.
func stuck(*program.Env) (*flow.Flow, error) {
	branch := flow.NewBranch("slow")
	branch.Input("slow input", func(ctx context.Context, _ func()) error {
		<-ctx.Done()

		return context.Cause(ctx)
	})

	return flow.Build([]*flow.Branch{branch})
}
