package console_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"tarsy.dev/tarsy/flow"
	"tarsy.dev/tarsy/flow/console"
	"tarsy.dev/tarsy/internal/kit/wait"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// echo answers each line, and lines that begin with "!" with an error.
func echo(t *testing.T, config console.Config) (*flow.Flow, *console.Console) {
	t.Helper()

	chat := console.New(config)
	built, err := flow.Build([]*flow.Branch{chat.Branch},
		flow.Route(chat.Lines, chat.Messages, func(_ context.Context, l console.Line) (console.Message, error) {
			text, failed := strings.CutPrefix(l.Text, "!")

			return console.Message{Sender: l.Sender, Text: text, Error: failed}, nil
		}))
	require.NoError(t, err)

	return built, chat
}

func within(t *testing.T) context.Context {
	t.Helper()

	return wait.Context(t)
}

func TestConsolePrintsMessagesAndEndsWithItsInput(t *testing.T) {
	t.Parallel()

	var out, failures bytes.Buffer

	built, chat := echo(t, console.Config{
		In:  strings.NewReader("Hello, world!\r\n\n   \nlast line \x00 without end \x1b[31mred\n!broken"),
		Out: &out, Err: &failures,
	})
	require.NoError(t, built.Run(within(t)))
	require.Equal(t, "[user]: Hello, world!\n[user]: last line  without end red\n", out.String())
	require.Equal(t, "[user]: broken\n", failures.String())

	var kept []string

	for record, err := range chat.Journal().Backward(t.Context(), 0) {
		require.NoError(t, err)

		kept = append(kept, record.Entry.Type)
	}

	require.Len(t, kept, 9, "three lines, three messages, three printed: empty lines are not produced")
	require.Equal(t, "console.Printed", kept[0])
}

func TestConsoleSenderNameAndShatterAreConfigurable(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	built, chat := echo(t, console.Config{
		Name: "desk", Sender: "alice", In: strings.NewReader("One. Two.\n!x"), Out: &out, Shatter: flow.ShatterSentence,
	})
	require.Equal(t, "desk", chat.Name())
	require.NoError(t, built.Run(within(t)))
	require.Equal(t, "[alice]: One. \n[alice]: Two.\n[alice]: x\n", out.String(), "errors go to Out where there is no Err")
}

func TestConsoleStopsWhileItWaitsForALine(t *testing.T) {
	t.Parallel()

	in, keyboard := io.Pipe()
	built, _ := echo(t, console.Config{In: in, Out: io.Discard})
	require.NoError(t, built.Start(within(t)))
	require.NoError(t, built.Stop(within(t)))
	require.NoError(t, keyboard.Close())
}

func TestConsoleFailuresAreReported(t *testing.T) {
	t.Parallel()

	tests := map[string]struct {
		config console.Config
		want   string
	}{
		"reader": {
			console.Config{In: io.MultiReader(strings.NewReader("a\n"), failing{}), Out: io.Discard},
			"console input: terminal gone",
		},
		"writer": {
			console.Config{In: strings.NewReader("a\n"), Out: failing{}},
			"console consumes console.Message: entry 2: print a message: terminal gone",
		},
		"too long a line": {
			console.Config{In: strings.NewReader(strings.Repeat("a", 2<<20)), Out: io.Discard},
			"console input: a line is longer than 1048576 bytes",
		},
	}

	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			built, _ := echo(t, test.config)
			require.EqualError(t, built.Run(within(t)), test.want)
		})
	}
}

// failing is a closed terminal.
type failing struct{}

var errGone = errors.New("terminal gone")

func (failing) Read([]byte) (int, error)  { return 0, errGone }
func (failing) Write([]byte) (int, error) { return 0, errGone }
