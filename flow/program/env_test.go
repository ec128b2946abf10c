package program_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/journal"
	"tarsy.dev/tarsy/flow/program"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// closable is a journal that counts its calls of Close.
type closable struct {
	journal.Journal[flow.Entry]

	closed  int
	failure error
}

func (c *closable) Close() error {
	c.closed++

	return c.failure
}

// keeping is a program that opens a journal and ends immediately, or cannot be configured.
func keeping(failure error) program.Configure {
	return func(env *program.Env) (*flow.Flow, error) {
		kept, err := env.Journal("chat")
		if err != nil {
			return nil, err
		}

		branch := flow.NewBranch("desk")
		branch.KeepIn(kept)
		branch.Input("desk input", func(_ context.Context, ready func()) error {
			ready()

			return nil
		})

		if failure != nil {
			return nil, failure
		}

		return flow.Build([]*flow.Branch{branch})
	}
}

func TestRunClosesTheJournalsOfTheProgram(t *testing.T) {
	t.Parallel()

	clock := clockwork.NewFakeClock()

	for name, test := range map[string]struct{ configure, closing error }{
		"when it ends":                 {},
		"when it cannot be configured": {configure: errors.New("no such setting")},
		"and reports what goes wrong":  {closing: errors.New("disk full")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kept := &closable{Journal: journal.NewMemory[flow.Entry](clock), failure: test.closing}
			env := &program.Env{Clock: clock, OpenJournal: func(name string) (journal.Journal[flow.Entry], error) {
				require.Equal(t, "chat", name)

				return kept, nil
			}}

			err := program.Run(t.Context(), env, keeping(test.configure))
			require.Equal(t, 1, kept.closed)

			if want := errors.Join(test.configure, test.closing); want != nil {
				require.EqualError(t, err, want.Error())
			} else {
				require.NoError(t, err)
			}

			require.NoError(t, env.Close())
			require.Equal(t, 1, kept.closed, "once")
		})
	}
}

func TestJournalsAreInMemoryUnlessTheProgramIsGivenOthers(t *testing.T) {
	t.Parallel()

	env := &program.Env{Clock: clockwork.NewFakeClock()}
	kept, err := env.Journal("chat")
	require.NoError(t, err)
	require.IsType(t, &journal.Memory[flow.Entry]{}, kept)

	env.OpenJournal = func(string) (journal.Journal[flow.Entry], error) { return nil, errors.New("no such directory") }
	require.EqualError(t, program.Run(t.Context(), env, keeping(nil)), "no such directory")
}

func TestPoliciesOfTheProgramHoldUnlessTheyAreOverridden(t *testing.T) {
	t.Parallel()

	env := &program.Env{}
	require.Zero(t, env.Window(flow.WindowFinal)("text"))
	require.Equal(t, []string{"One. Two."}, env.Shatter(flow.ShatterNone)("One. Two."))

	env.OverrideWindow, env.OverrideShatter = flow.WindowImmediate, flow.ShatterSentence
	require.Equal(t, 4, env.Window(flow.WindowFinal)("text"))
	require.Equal(t, []string{"One. ", "Two."}, env.Shatter(flow.ShatterNone)("One. Two."))
}
