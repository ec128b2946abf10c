package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
)

func TestFeedbackIsGivenListedAndWithdrawn(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	ana, bob := s.key(t, "ana", tarsy.ScopeWrite), s.key(t, "bob", tarsy.ScopeWrite)
	id := jsonOf[tarsy.SessionDetail](t, ana, "submit", "-m", "disk full", "--wait").ID
	part := id[28:]

	require.Contains(t, tarsyWith(t, ana, "", "feedback", part).stderr, "No feedback yet.")
	require.Empty(t, jsonOf[[]tarsy.Feedback](t, ana, "feedback", part))

	got := tarsyWith(t, ana, "", "feedback", part, "right")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "Feedback of ana on session")

	given := jsonOf[tarsy.Feedback](t, bob, "feedback", part, "wrong", "--why", "the pod was fine\x1b[2J", "--cause", "an expired certificate")
	require.Equal(t, "bob", given.Author)
	require.Equal(t, tarsy.RatingWrong, given.Rating)
	require.Equal(t, "an expired certificate", given.RealCause)

	got = tarsyWith(t, ana, "", "feedback", id)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `(?m)^wrong +bob +\d+s +the pod was fine +an expired certificate$`, got.stdout)
	require.Regexp(t, `(?m)^right +ana +\d+s`, got.stdout)
	require.NotContains(t, got.stdout, "\x1b")

	for _, bad := range [][]string{
		{part, "good"},
		{part, "--why", "because"},
		{part, "--cause", "disk"},
		{part, "right", "--cause", "disk"},
		{part, "right", "--delete"},
		{part, "--delete", "--why", "x"},
		{part, "wrong", "--why", strings.Repeat("x", tarsy.MaxFeedbackText+1)},
		{part, "right", "wrong"},
		{},
	} {
		got = tarsyWith(t, ana, "", append([]string{"feedback"}, bad...)...)
		require.Equal(t, cli.ExitUsage, got.code, "%v: %s", bad, got.stderr)
		require.NotEmpty(t, got.stderr)
	}

	require.Len(t, jsonOf[[]tarsy.Feedback](t, ana, "feedback", part), 2)

	got = tarsyWith(t, bob, "", "feedback", part, "--delete")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, cli.ExitNotFound, tarsyWith(t, bob, "", "feedback", part, "--delete").code)
	require.Len(t, jsonOf[[]tarsy.Feedback](t, ana, "feedback", part), 1)

	require.Equal(t, cli.ExitNotFound, tarsyWith(t, ana, "", "feedback", ident.New(), "right").code)
	require.Equal(t, cli.ExitAuth, tarsyWith(t, s.key(t, "reader", tarsy.ScopeRead), "", "feedback", part, "right").code)
}

func TestQualityShowsWhatPeopleThink(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Contains(t, tarsyWith(t, s.env, "", "quality").stderr, "No sessions completed in this period.")

	id := s.investigated(t)
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "feedback", id, "right").code)

	quality := jsonOf[tarsy.Quality](t, s.env, "quality", "--by", "agent", "--days", "7")
	require.Equal(t, tarsy.QualityByAgent, quality.By)
	require.Equal(t, 1, quality.Total.Sessions)
	require.Equal(t, 1, quality.Total.Right)
	require.InDelta(t, 1, *quality.Total.Agreement, 0)
	require.NotEmpty(t, quality.Rows)

	for by, key := range map[string]string{"chain": `\S+`, "model": `\S+`, "day": `\d{4}-\d\d-\d\d`} {
		got := tarsyWith(t, s.env, "", "quality", "--by", by)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Regexp(t, `(?m)^`+strings.ToUpper(by)+` +SESSIONS +AGREEMENT `, got.stdout)
		require.Regexp(t, `(?m)^`+key+` +1 +100% +1 +0 +0 `, got.stdout, by)
		require.Regexp(t, `(?m)^total +1 +100% +1 +0 +0 `, got.stdout, by)
	}

	for _, bad := range [][]string{{"--by", "person"}, {"--days", "0"}, {"--days", "367"}, {"more"}} {
		got := tarsyWith(t, s.env, "", append([]string{"quality"}, bad...)...)
		require.Equal(t, cli.ExitUsage, got.code, "%v: %s", bad, got.stderr)
	}
}
