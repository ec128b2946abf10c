// Package examples_test builds the example programs and runs them as a newcomer does: as processes, without keys or accounts.
package examples_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/kit/slowness"
)

// example is a program and a line of its answer to "Hello, world!", without the sender.
type example struct{ name, answer string }

func programs() []example {
	return []example{
		{"console-echo", "Hello, world!"},
		{"console-agent", "I am a scripted assistant. Set OPENAI_API_KEY to talk to a real model."},
		{"console-agent-streaming", "This is the last one."},
		{"console-file-journal", "Hello, world!"},
		{"discord-echo", "Hello, world!"},
		{"discord-streaming", "Hello, world!"},
		{"discord-agent-file-journal", "Set OPENAI_API_KEY to talk to a real model, and DISCORD_TOKEN to do so in Discord."},
		{"chat-agent", "I am a scripted assistant. I say the same on the console and in Discord."},
		{"declarative-discord-agent", "I am a scripted assistant. Everything that we say is in two journals."},
	}
}

func TestExecutablesAnswerAndEndWithTheirInput(t *testing.T) {
	if testing.Short() {
		t.Skip("builds nine programs")
	}

	t.Parallel()

	ctx, cancel := context.WithTimeoutCause(t.Context(), slowness.Scale(8*time.Minute), errors.New("the programs took too long"))
	t.Cleanup(cancel)

	dir := t.TempDir()

	arguments := []string{"build", "-ldflags=-s -w", "-o", dir + string(filepath.Separator)}
	for _, program := range programs() {
		arguments = append(arguments, "./"+program.name)
	}

	output, err := exec.CommandContext(ctx, "go", arguments...).CombinedOutput()
	require.NoError(t, err, "%s", output)

	for _, program := range programs() {
		t.Run(program.name, func(t *testing.T) {
			transcript, err := converse(ctx, t, filepath.Join(dir, program.name), program.answer)
			require.NoError(t, err, "%s", transcript)
		})
	}
}

// converse starts a program, types a line, waits for the answer, ends the input and waits for the exit.
func converse(ctx context.Context, t *testing.T, path, answer string) (transcript string, err error) {
	t.Helper()

	ctx, cancel := context.WithTimeout(ctx, slowness.Scale(time.Minute))
	defer cancel()

	command := exec.CommandContext(ctx, path)
	command.Dir = t.TempDir()
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + command.Dir}

	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)

	var failures strings.Builder

	command.Stderr = &failures

	require.NoError(t, command.Start())

	_, err = io.WriteString(in, "Hello, world!\n")
	require.NoError(t, err)

	var printed strings.Builder

	answered := false

	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&printed, lines.Text())

		if strings.HasSuffix(lines.Text(), answer) && !answered {
			answered = true

			require.NoError(t, in.Close())
		}
	}

	err = command.Wait()
	if err == nil && !answered {
		err = fmt.Errorf("it did not print %q", answer)
	}

	return printed.String() + failures.String(), err
}
