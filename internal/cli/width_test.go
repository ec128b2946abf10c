package cli_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// requireFits checks that no line is wider than the terminal.
func requireFits(t *testing.T, width int, text string, command []string) {
	t.Helper()

	for line := range strings.Lines(text) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "\t", strings.Repeat(" ", 8))
		require.LessOrEqual(t, terminal.Width(line), width, "%v: %s", command, line)
	}
}

func TestHelpOfEveryCommandFitsTerminal(t *testing.T) {
	t.Parallel()

	// Cobra adds these when the program runs.
	commands := []string{"", "help", "completion", "completion bash", "completion fish", "completion powershell", "completion zsh"}
	commands = append(commands, commandsBelow(cli.Root())...)

	words := func(text string) []string {
		return slices.DeleteFunc(strings.Fields(text), func(word string) bool { return word == `\` })
	}

	for _, name := range commands {
		command := append(strings.Fields(name), "--help")
		whole := tarsyWith(t, nil, "", command...)
		require.Equal(t, cli.ExitOK, whole.code, whole.stderr)

		for _, width := range []int{80, 120} {
			got := inTerminal(t, width, nil, command...)
			require.Equal(t, cli.ExitOK, got.code, got.stderr)
			requireFits(t, width, got.stdout, command)
			require.Equal(t, words(whole.stdout), words(got.stdout), "no word is lost")
		}
	}
}

// lists returns the commands that print a list, with their arguments after the name.
func lists(id string) [][]string {
	more := map[string][]string{"feedback": {id}, "sessions share": {id, "--list"}}

	var all [][]string

	for _, name := range commandsBelow(cli.Root()) {
		cmd, _, err := cli.Root().Find(strings.Fields(name))
		if err != nil {
			continue
		}

		if format := cmd.Flags().Lookup("output"); format != nil && strings.Contains(format.Value.Type(), "wide") {
			all = append(all, append(strings.Fields(name), more[name]...))
		}
	}

	return all
}

// crowded fills every list of the server with long texts, and returns the id of a session.
func (s *server) crowded(t *testing.T) string {
	t.Helper()

	long := strings.Repeat("a long text about the checkout of the shop, ", 4) + "\x1b[2J\u202e\ud55c\uad6d"
	run := func(args ...string) string {
		got := tarsyWith(t, s.env, "", args...)
		require.Equal(t, cli.ExitOK, got.code, "%v: %s", args, got.stderr)

		return strings.TrimSpace(got.stdout)
	}

	s.waiting(t)

	id := s.investigated(t)
	run("sessions", "ack", id, "--assign")
	run("sessions", "tag", id, "--add", "a tag that is rather long", "--add", "another tag that is rather long")
	run("sessions", "share", id)
	run("feedback", id, "wrong", "--why", long, "--cause", long)
	run("submit", "-m", long, "--wait")
	run("keys", "create", "a key with a long name for the alertmanager of the shop", "--scope", "read,write,admin", "--expires", "90d")
	run("silences", "add", "source=alertmanager", `alertname=~"Test.*|A pattern that is longer than all others.*"`, "--for", "200h", "--reason", long)
	run("silences", "add", "source=alertmanager", "--for", "200h", "--reason", long)
	run("webhooks", "test", "--source", "alertmanager")
	run("note", "nothing to see: "+long, "--wait")
	run("pause", "claiming", "--reason", long, "--for", "700h")

	return id
}

func TestEveryTableFitsTerminal(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := s.crowded(t)
	tables := append(lists(id), []string{"quality"}, []string{"quality", "--by", "model"}, []string{"config", "show"}, []string{"licenses"},
		[]string{"smoke"}, []string{"webhooks", "test", "--source", "alertmanager"}, []string{"note", "Ana rotates the keys", "--wait", "--idempotency-key", "once"})

	for _, command := range tables {
		if command[0] == "webhooks" && command[len(command)-1] != "alertmanager" {
			continue // prints what to paste
		}

		for _, width := range []int{80, 120} {
			got := inTerminal(t, width, s.env, command...)
			require.Equal(t, cli.ExitOK, got.code, got.stderr)
			require.NotEmpty(t, got.stdout, command)
			requireFits(t, width, got.stdout, command)
		}
	}
}

// commandOf returns the command with a name such as "sessions list".
func commandOf(t *testing.T, name string) *cobra.Command {
	t.Helper()

	cmd, _, err := cli.Root().Find(strings.Fields(name))
	require.NoError(t, err)

	return cmd
}
