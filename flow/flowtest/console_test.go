package flowtest_test

import (
	"context"
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/flow/flowtest"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
	"tarsy.dev/tarsy/internal/kit/testfailure"
)

// printing is a program that prints pieces of text as they are, and then reads its input.
func printing(pieces ...string) program.Configure {
	return func(env *program.Env) (*flow.Flow, error) {
		branch := flow.NewBranch("printer")
		branch.Input("printer input", func(_ context.Context, ready func()) error {
			for _, piece := range pieces {
				if _, err := fmt.Fprint(env.Out, piece); err != nil {
					return err
				}
			}

			ready()

			_, err := io.Copy(io.Discard, env.In)

			return err
		})

		return flow.Build([]*flow.Branch{branch})
	}
}

func TestOutputIsReadInLinesHoweverItIsWritten(t *testing.T) {
	t.Parallel()

	h := flowtest.New(t, printing("one\r\nt", "wo", "\n\nthree\n", "> "), flowtest.WithConsole()).Start()
	require.Equal(t, []string{"one", "two", "", "three"}, h.Console().Collect(4))
	require.Equal(t, []string{"> "}, h.Console().CollectUntilQuiet(), "a prompt has no end of line")
	h.Console().AssertQuiet()
	require.Len(t, h.Console().Times(), 5)
}

func TestOutputWithoutEndOfLineIsNotQuiet(t *testing.T) {
	t.Parallel()

	require.Contains(t, testfailure.Of(t, func(t testing.TB) {
		flowtest.New(t, printing("unexpected"), flowtest.WithConsole()).Start().Console().AssertQuiet()
	}), "expected no output, got:\nunexpected")

	require.Contains(t, testfailure.Of(t, func(t testing.TB) {
		h := flowtest.New(t, printing("one\n", "tw"), flowtest.WithConsole()).Start()
		h.Console().Collect(2, flowtest.Within(1))
	}), `output until then: ["one" "tw"]`)
}

// Programs with file journals leave no files behind in tests, and parallel tests share nothing.
func TestHostsKeepJournalsInMemoryAndApart(t *testing.T) {
	t.Parallel()

	var kept journal.Journal[flow.Entry]

	flowtest.New(t, func(env *program.Env) (*flow.Flow, error) {
		var err error

		kept, err = env.Journal("chat")
		require.NoError(t, err)

		return chat(env)
	}, flowtest.WithConsole(), flowtest.WithLLM())
	require.IsType(t, &journal.Memory[flow.Entry]{}, kept)

	hosts := []*flowtest.Host{start(t), start(t), start(t)}
	for i, h := range hosts {
		h.LLM().Enqueue(fmt.Sprint("answer ", i))
		h.Console().Send(fmt.Sprint("question ", i))
	}

	for i, h := range hosts {
		require.Equal(t, []string{fmt.Sprint("[bot]: answer ", i)}, h.Console().CollectUntilQuiet())
		require.Equal(t, []string{fmt.Sprint("question ", i)}, h.LLM().Prompts())
		require.Equal(t, []console.Line{{Sender: "user", Text: fmt.Sprint("question ", i)}}, flowtest.Entries[console.Line](h, "console"))
	}
}
