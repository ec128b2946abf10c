package cli_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/client"
	"tarsy.dev/tarsy/internal/ident"
)

func TestIntakeIsPausedAndResumedByCommand(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	env, writer := s.key(t, "ana", tarsy.ScopeAdmin), s.key(t, "ben", tarsy.ScopeWrite)

	require.Equal(t, cli.ExitAuth, tarsyWith(t, writer, "", "pause", "intake").code)

	got := tarsyWith(t, env, "", "pause", "intake", "--reason", "database upgrade", "--for", "30m")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "ana paused intake until ")
	require.Contains(t, got.stderr, "tarsy resume intake")

	got = tarsyWith(t, writer, "", "submit", "-m", "disk full")
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stderr, "database upgrade")

	paused := jsonOf[tarsy.Pause](t, env, "pause", "claiming")
	require.Nil(t, paused.EndsAt)

	for _, code := range []int{
		tarsyWith(t, env, "", "pause", "claiming", "--cancel").code, tarsyWith(t, env, "", "pause", "coffee").code, tarsyWith(t, env, "", "pause").code,
		tarsyWith(t, env, "", "resume", "coffee").code, tarsyWith(t, env, "", "pause", "intake", "--for", "-1m").code,
	} {
		require.Equal(t, cli.ExitUsage, code)
	}

	got = tarsyWith(t, env, "", "resume", "all")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, "Resumed intake.\nResumed claiming.\n", got.stderr)
	require.Equal(t, cli.ExitOK, tarsyWith(t, writer, "", "submit", "-m", "disk full").code)
}

// submitPaused pauses claiming, submits alerts, and returns their sessions.
func submitPaused(t *testing.T, env []string, texts ...string) []string {
	t.Helper()

	require.Equal(t, cli.ExitOK, tarsyWith(t, env, "", "pause", "claiming", "--reason", "load test").code)

	ids := make([]string, len(texts))

	for i, text := range texts {
		got := tarsyWith(t, env, "", "submit", "-m", text)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)

		ids[i] = strings.TrimSpace(got.stdout)
	}

	return ids
}

func TestListOfQueuedSessionsReportsPausedClaiming(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	submitPaused(t, s.env, "disk full")

	got := tarsyWith(t, s.env, "", "sessions", "list")
	require.Contains(t, got.stdout, "pending")
	require.Contains(t, got.stderr, "paused claiming until it is resumed. Reason: load test")

	got = tarsyWith(t, s.env, "", "doctor", "--server", s.env[0][len("TARSY_SERVER="):])
	require.Contains(t, got.stdout, "paused claiming")
	require.Contains(t, got.stdout, "tarsy resume ends pauses")
}

func TestSessionsAreCancelledByFilterAfterConfirmation(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	ids := submitPaused(t, s.env, "disk full", "disk slow", "network down")
	all := []string{"sessions", "cancel", "--all", "--search", "disk"}

	got := tarsyWith(t, s.env, "", append(all, "--dry-run")...)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.ElementsMatch(t, ids[:2], strings.Fields(got.stdout))
	require.Contains(t, got.stderr, "2 sessions would be cancelled.")

	for _, answer := range []string{"", "n\n", "what?\n"} {
		got = tarsyWith(t, s.env, answer, all...)
		require.Equal(t, cli.ExitFailed, got.code)
		require.Contains(t, got.stderr, "Cancel 2 sessions? [y/N]")
		require.Contains(t, got.stderr, "nothing was cancelled")
	}

	got = tarsyWith(t, s.env, "y\n", all...)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.ElementsMatch(t, ids[:2], strings.Fields(got.stdout))
	require.Contains(t, got.stderr, "Cancellation of 2 sessions requested.")

	result := jsonOf[tarsy.BulkCancel](t, s.env, "sessions", "cancel", ids[2], ids[2], "--dry-run")
	require.Equal(t, []int{1, 1}, []int{result.Matched, result.Requested})

	got = tarsyWith(t, s.env, "", "sessions", "cancel", "--all", "--yes")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, ids[2])

	for _, args := range [][]string{{}, {ids[0], "--all"}, {ids[0], "--service", "db"}, {"--service", "db"}} {
		require.Equal(t, cli.ExitUsage, tarsyWith(t, s.env, "", append([]string{"sessions", "cancel"}, args...)...).code, args)
	}
}

func TestPauseAllStopsNewAlertsAndSessions(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	ids := submitPaused(t, s.env, "disk full", "network down")

	got := tarsyWith(t, s.env, "", "pause", "all", "--reason", "wrong model", "--for", "30m")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, 2, strings.Count(got.stderr, "Reason: wrong model"), got.stderr)
	require.Empty(t, got.stdout, "nothing is cancelled without --cancel")

	pauses := jsonOf[[]tarsy.Pause](t, s.env, "pauses")
	require.Len(t, pauses, 2)
	require.NotNil(t, pauses[0].EndsAt)
	require.Regexp(t, `(?m)^claiming +\S+ +\d+s +(30|29)m +wrong model$`, tarsyWith(t, s.env, "", "pauses").stdout)

	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "resume", "all").code)
	require.Contains(t, tarsyWith(t, s.env, "", "pauses").stderr, "Nothing is paused.")

	for _, id := range ids {
		require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "watch", id).code)
	}
}

func TestPauseAllCancelsSessionsAfterConfirmation(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	running := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "WAIT").stdout)
	s.until(t, running, tarsy.SessionInProgress)

	queued := submitPaused(t, s.env, "disk full")[0]
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "resume", "all").code)

	for _, answer := range []string{"", "n\n"} {
		got := tarsyWith(t, s.env, answer, "pause", "all", "--cancel")
		require.Equal(t, cli.ExitFailed, got.code)
		require.Contains(t, got.stderr, "Pause everything and cancel ")
		require.Contains(t, got.stderr, "nothing was paused or cancelled")
		require.Empty(t, jsonOf[[]tarsy.Pause](t, s.env, "pauses"))
	}

	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "watch", queued).code)

	second := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "WAIT again").stdout)
	got := tarsyWith(t, s.env, "y\n", "pause", "all", "--cancel")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "Pause everything and cancel 2 sessions? [y/N]")
	require.ElementsMatch(t, []string{running, second}, strings.Fields(got.stdout))
	require.Len(t, jsonOf[[]tarsy.Pause](t, s.env, "pauses"), 2)

	for _, id := range []string{running, second} {
		s.until(t, id, tarsy.SessionCancelled)
	}

	require.Contains(t, tarsyWith(t, s.env, "", "submit", "-m", "disk full").stderr, "paused")

	again := jsonOf[struct {
		Pauses    []tarsy.Pause
		Cancelled tarsy.BulkCancel
	}](t, s.env, "pause", "all", "--cancel", "--yes")
	require.Len(t, again.Pauses, 2)
	require.Zero(t, again.Cancelled.Requested)
}

func TestShareIsPrintedOnceListedAndRevoked(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	env := s.key(t, "ana", tarsy.ScopeWrite)
	id := strings.TrimSpace(tarsyWith(t, env, "", "submit", "-m", "disk full").stdout)

	got := tarsyWith(t, env, "", "sessions", "share", id, "--for", "24h")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	link := strings.TrimSpace(got.stdout)
	address, secret, ok := strings.Cut(link, "#")
	require.True(t, ok)
	require.Equal(t, "https://tarsy.example/shared", address, "where people open the dashboard")

	shared := func() int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.env[0][len("TARSY_SERVER="):]+"/api/v1/shared", nil)
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+secret)

		answer, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())

		return answer.StatusCode
	}
	require.Equal(t, http.StatusOK, shared())

	shares := jsonOf[[]tarsy.Share](t, env, "sessions", "share", id, "--list")
	require.Len(t, shares, 1)
	require.Equal(t, 24*time.Hour, shares[0].ExpiresAt.Sub(shares[0].CreatedAt))

	got = tarsyWith(t, env, "", "sessions", "share", id, "--list")
	require.Contains(t, got.stdout, "expires in ")
	require.NotContains(t, got.stdout, secret)

	got = tarsyWith(t, env, "", "sessions", "share", id, "--revoke", shares[0].ID[24:])
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, http.StatusNotFound, shared())
	require.Contains(t, tarsyWith(t, env, "", "sessions", "share", id, "--list").stdout, "revoked")

	created := jsonOf[client.CreatedShare](t, env, "sessions", "share", id)
	require.NotEmpty(t, created.Secret)
	require.Equal(t, cli.ExitUsage, tarsyWith(t, env, "", "sessions", "share", id, "--list", "--for", "1h").code)
	require.Equal(t, cli.ExitNotFound, tarsyWith(t, env, "", "sessions", "share", id, "--revoke", ident.New()).code)
}
