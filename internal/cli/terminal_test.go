package cli_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// inTerminal runs a command in a terminal of the given width.
func inTerminal(t *testing.T, width int, env []string, args ...string) result {
	t.Helper()

	stdout, stderr := newBuffer(), newBuffer()
	code := cli.Run(t.Context(), cli.Process{
		Name: "tarsy", Args: args, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr, Env: env, Executable: os.Args[0],
		Columns: func(any) int { return width },
	})

	return result{code, stdout.String(), stderr.String()}
}

func TestSessionListFitsTerminalAndColoursStatuses(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait").code)
	require.Equal(t, cli.ExitNotCompleted, tarsyWith(t, s.env, "", "submit", "-m", "FAIL", "--wait").code)

	for _, width := range []int{200, 80, 60, 50} {
		got := inTerminal(t, width, s.env, "sessions", "list")
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Contains(t, got.stdout, "\x1b[32mcompleted\x1b[0m")
		require.Contains(t, got.stdout, "\x1b[31mfailed\x1b[0m")

		for line := range strings.Lines(got.stdout) {
			require.LessOrEqual(t, terminal.Width(strings.TrimRight(line, "\n")), width, line)
		}
	}

	for _, plain := range []string{"TERM=dumb", "NO_COLOR=1"} {
		require.NotContains(t, inTerminal(t, 80, append([]string{plain}, s.env...), "sessions").stdout, "\x1b", plain)
	}
}

func TestSessionListHasTitleAndCauseOnTwoLinesInTerminal(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	facts := tarsy.AlertFacts{
		Title: "Checkout is \x1b[2Jslow", Severity: tarsy.SeverityCritical, Service: "checkout", Namespace: "shop",
		Labels: map[string]string{}, Links: []tarsy.AlertLink{}, Source: tarsy.SourceAPI, Fingerprint: "a",
	}
	id := s.putSession(t, facts).ID
	judged := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "judge this", "--type", "judged").stdout)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "watch", judged).code)

	env := append([]string{"NO_COLOR=1"}, s.env...)
	lines := strings.Split(strings.TrimRight(inTerminal(t, 80, env, "sessions").stdout, "\n"), "\n")
	require.Len(t, lines, 4)
	require.Regexp(t, `^`+judged[24:]+`  judge this +completed  \d+s$`, lines[0])
	require.Regexp(t, `^ {14}Probable cause: the cache of checkout has no bound +\$\d`, lines[1])
	require.Regexp(t, `^`+id[24:]+`  critical  Checkout is slow ×12 +completed  \d+s$`, lines[2])
	require.Regexp(t, `^ {14}A cold cache\. +shop/checkout`, lines[3])

	for _, line := range lines {
		require.Equal(t, 80, terminal.Width(line), line)
	}

	require.Contains(t, inTerminal(t, 80, env, "sessions", "--search", "judge").stdout, "[judge]")
	require.Contains(t, inTerminal(t, 80, s.env, "sessions").stdout, "\x1b[31mcritical\x1b[0m")
	require.Contains(t, inTerminal(t, 80, env, "sessions", "-o", "wide").stdout, "STATUS", "the table")
}

func TestTableDropsColumnsThatMatterLess(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "note", "nothing to see", "--wait").code)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "keys", "create", "robot").code)

	require.Contains(t, inTerminal(t, 110, s.env, "notes").stdout, "ENTITIES")
	require.NotContains(t, inTerminal(t, 50, s.env, "notes").stdout, "ENTITIES", "columns that matter less go first")
	require.NotContains(t, inTerminal(t, 110, s.env, "keys").stdout, "TEAMS", "a column without values leaves its width to others")
	require.Contains(t, inTerminal(t, 50, s.env, "notes", "-o", "wide").stdout, "ENTITIES")
}

func TestSessionMarkdownIsRenderedInTerminal(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait").code)

	_, row, _ := strings.Cut(tarsyWith(t, s.env, "", "sessions").stdout, "\n")
	id, _, _ := strings.Cut(row, " ")

	got := inTerminal(t, 80, s.env, "sessions", "show", id)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.NotContains(t, got.stdout, "# Found it")
	require.Contains(t, got.stdout, "Found it")
	require.Contains(t, got.stdout, "\x1b[32mcompleted\x1b[0m")
}

func TestWatchUsesNoScreenOnDumbTerminal(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait").code)

	got := inTerminal(t, 80, append([]string{"TERM=dumb"}, s.env...), "watch")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "session   completed after ")
	require.NotContains(t, got.stdout, "\x1b")
}

func TestShellsCompleteAlertTypesAndStatuses(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)

	for _, command := range [][]string{{"submit"}, {"sessions"}, {"sessions", "list"}} {
		got := tarsyWith(t, s.env, "", append(append([]string{"__complete"}, command...), "--type", "")...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Contains(t, got.stdout, "silent", command)
		require.Contains(t, got.stdout, "other", command)
	}

	got := tarsyWith(t, s.env, "", "__complete", "sessions", "list", "--status", "")
	for _, status := range tarsy.SessionStatuses() {
		require.Contains(t, got.stdout, string(status)+"\n")
	}
}

func TestShellsCompleteChainsAndProvidersOfReruns(t *testing.T) {
	t.Parallel()

	s := startServerWith(t, false, "llm_providers: {second: {type: scripted, model: large}}", nil)

	got := tarsyWith(t, s.env, "", "__complete", "rerun", "5f3a9c21", "--provider", "")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "second\tlarge\n", "no chain uses it, but a re-run may")
	require.NotContains(t, got.stdout, "silent")
	require.Contains(t, tarsyWith(t, s.env, "", "__complete", "rerun", "5f3a9c21", "--chain", "").stdout, "silent")

	gone := tarsyWith(t, nil, "", "__complete", "rerun", "--server", "http://127.0.0.1:1", "5f3a9c21", "--provider", "")
	require.Regexp(t, `^:\d+\n$`, gone.stdout, "no server, no offer")
}

func TestSessionsThatNeedAttentionAreListedFirst(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Equal(t, cli.ExitNotCompleted, tarsyWith(t, s.env, "", "submit", "-m", "FAIL", "--wait").code)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--wait").code)

	require.Regexp(t, `(?s)completed.*failed`, tarsyWith(t, s.env, "", "sessions").stdout)
	require.Regexp(t, `(?s)failed.*completed`, tarsyWith(t, s.env, "", "sessions", "--order", "attention").stdout)
	require.Equal(t, cli.ExitUsage, tarsyWith(t, s.env, "", "sessions", "--order", "oldest").code)
}
