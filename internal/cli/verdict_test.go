package cli_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/cli/terminal"
)

// printed is the verdict without line breaks inside lines.
const printed = `Probable cause: the cache of checkout has no bound [call 1.1.1]
Confidence: medium. Memory grows, but the heap was not read. [call 1.1.1]
Impact: One checkout in eight fails.

Next steps
1. Restart checkout (low risk, reversible)
   It frees the memory for about an hour, which is enough to ship the bound of the cache.
   $ kubectl --namespace shop rollout restart deployment/checkout --field-manager tarsy
     kubectl --namespace shop rollout status deployment/checkout
   https://runbooks.example/checkout
2. Drop the table of carts (high risk, not reversible)

Not checked
- The database.
`

func TestVerdictIsPrintedBySubmitAndWaitShowAndWatch(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)

	waited := tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--type", "judged", "--wait")
	require.Equal(t, cli.ExitOK, waited.code, waited.stderr)
	require.Equal(t, printed+"\n# Found it\n\nThe cache has no bound.\n", waited.stdout)
	require.NotContains(t, waited.stderr, "Probable cause", "it is printed once")

	var detail tarsy.SessionDetail

	raw := tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow again", "--type", "judged", "--wait", "-o", "json")
	require.Equal(t, cli.ExitOK, raw.code, raw.stderr)
	require.NoError(t, json.Unmarshal([]byte(raw.stdout), &detail))
	require.Equal(t, tarsy.OutcomeProbableCause, detail.Verdict.Outcome)
	require.Len(t, detail.Verdict.NextSteps, 2)
	require.Equal(t, "1.1.1", detail.Verdict.Cause.Citations[0].Call)
	require.NotContains(t, raw.stdout, "\x1b")

	shown := tarsyWith(t, s.env, "", "sessions", "show", detail.ID)
	require.True(t, strings.HasPrefix(shown.stdout, printed+"\nsession     "+detail.ID+"\n"), shown.stdout)

	watched := tarsyWith(t, s.env, "", "watch", detail.ID)
	require.Equal(t, cli.ExitOK, watched.code, watched.stderr)
	require.Contains(t, watched.stdout, "  verdict   "+strings.ReplaceAll(strings.TrimSpace(strings.ReplaceAll(printed, "\n", "\n"+strings.Repeat(" ", 20))),
		"\n"+strings.Repeat(" ", 20)+"\n", "\n\n"))
	require.Less(t, strings.Index(watched.stdout, "  verdict   "), strings.Index(watched.stdout, "session   completed"))

	events := tarsyWith(t, s.env, "", "watch", detail.ID, "-o", "json")
	require.Contains(t, events.stdout, `"type":"session.verdict"`)
	require.Contains(t, events.stdout, `"outcome":"probable_cause"`)
}

func TestWatchPrintsWholeVerdictWhenSessionEnds(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	submitted := tarsyWith(t, s.env, "", "submit", "-m", "WAIT for it", "--type", "judged")
	id := strings.TrimSpace(submitted.stdout)
	s.until(t, id, tarsy.SessionInProgress)

	stdout, done := newBuffer(), make(chan int)
	go func() {
		done <- cli.Run(t.Context(), cli.Process{
			Name: "tarsy", Args: []string{"watch", id}, Stdin: strings.NewReader(""), Stdout: stdout, Stderr: newBuffer(), Env: s.env,
		})
	}()

	stdout.wait(t, "stage     1 look started")
	s.gate.Open()
	require.Equal(t, cli.ExitOK, <-done)
	require.Contains(t, stdout.String(), "verdict   Probable cause: the cache of checkout has no bound")
	require.Contains(t, stdout.String(), "2. Drop the table of carts (high risk, not reversible)", "what the event does not have")
}

func TestVerdictFitsTerminalButCommandsStayWhole(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := jsonOf[tarsy.SessionDetail](t, s.env, "submit", "-m", "checkout is slow", "--type", "judged", "--wait").ID

	for _, width := range []int{120, 80, 60} {
		for _, command := range [][]string{{"sessions", "show", id}, {"watch", "--lines", id}, {"sessions"}} {
			got := inTerminal(t, width, s.env, command...)
			require.Equal(t, cli.ExitOK, got.code, got.stderr)

			// In a session only the verdict is prose; the rows below are as long as their content.
			shown, _, _ := strings.Cut(got.stdout, "\n\x1b[2msession ")
			for line := range strings.Lines(shown) {
				if !strings.Contains(line, "kubectl") && !strings.Contains(line, id) {
					require.LessOrEqual(t, terminal.Width(strings.TrimRight(line, "\n")), width, "%v: %s", command, line)
				}
			}
		}

		require.Contains(t, inTerminal(t, width, s.env, "sessions", "show", id).stdout,
			"kubectl --namespace shop rollout restart deployment/checkout --field-manager tarsy", "a shell would run the parts of a broken command")
	}
}

func TestSessionsAreListedAndFilteredByOutcome(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	judged := jsonOf[tarsy.SessionDetail](t, s.env, "submit", "-m", "checkout is slow", "--type", "judged", "--wait").ID
	plain := jsonOf[tarsy.SessionDetail](t, s.env, "submit", "-m", "cart is slow", "--wait").ID

	got := tarsyWith(t, s.env, "", "sessions")
	require.Contains(t, strings.SplitN(got.stdout, "\n", 2)[0], "STATUS     OUTCOME")
	require.Regexp(t, `(?m)^`+judged[24:]+` +completed +Probable cause .*the cache of checkout has no bound$`, got.stdout)
	require.Regexp(t, `(?m)^`+plain[24:]+` +completed {2,}cart is slow .*A cache without bound\.$`, got.stdout)

	got = tarsyWith(t, s.env, "", "sessions", "--outcome", "needs_human,probable_cause")
	require.Contains(t, got.stdout, judged[24:])
	require.NotContains(t, got.stdout, plain[24:])
	require.Contains(t, tarsyWith(t, s.env, "", "sessions", "--outcome", "false_alarm").stderr, "No sessions found.")

	got = tarsyWith(t, s.env, "", "sessions", "--search", "no bound")
	require.Contains(t, got.stdout, "the cache of checkout has [no] [bound]")

	got = tarsyWith(t, s.env, "", "sessions", "--outcome", "bad")
	require.Equal(t, cli.ExitUsage, got.code)
	require.Contains(t, got.stderr, `there is no outcome "bad"`)

	require.Contains(t, inTerminal(t, 80, s.env, "sessions").stdout, "\x1b[36mProbable cause\x1b[0m")
	require.Contains(t, tarsyWith(t, s.env, "", "__complete", "sessions", "--outcome", "").stdout, "needs_human\tNeeds a person\n")
}
