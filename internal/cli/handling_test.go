package cli_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
)

func TestSessionsAreAcknowledgedAssignedTaggedResolvedAndReopened(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	ana, bob := s.key(t, "ana", tarsy.ScopeWrite), s.key(t, "bob", tarsy.ScopeWrite)
	first := jsonOf[tarsy.SessionDetail](t, ana, "submit", "-m", "disk full", "--wait").ID
	second := jsonOf[tarsy.SessionDetail](t, ana, "submit", "-m", "pod down", "--wait").ID

	handle := func(env []string, args ...string) string {
		t.Helper()

		got := tarsyWith(t, env, "", append([]string{"sessions"}, args...)...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)

		return got.stderr
	}

	require.Equal(t, 2, strings.Count(handle(ana, "ack", first[24:], second[24:]), "acknowledged by ana"))
	require.Contains(t, handle(bob, "ack", first[24:]), "acknowledged by ana; nothing changed")
	require.Contains(t, handle(bob, "assign", first[24:], "--to", "me"), "assigned to bob")
	require.Contains(t, handle(bob, "tag", first[24:], "--add", "Disk", "--add", "two words", "--remove", "none"), "tags: Disk, two words")
	require.Contains(t, handle(bob, "resolve", first[24:], "--note", "cleaned up\x1b[2J"), "resolved by bob")

	results := jsonOf[[]tarsy.HandlingResult](t, bob, "sessions", "tag", first, "--remove", "DISK")
	require.Len(t, results, 1)
	require.True(t, results[0].Changed)
	require.Equal(t, []string{"two words"}, results[0].Handling.Tags)

	listed := func(args ...string) []string {
		t.Helper()

		var ids []string
		for _, item := range jsonOf[[]tarsy.SessionItem](t, bob, append([]string{"sessions", "list"}, args...)...) {
			ids = append(ids, item.ID)
		}

		return ids
	}

	require.Equal(t, []string{first}, listed("--handling", "resolved"))
	require.Equal(t, []string{second, first}, listed("--handling", "resolved,acknowledged"))
	require.Equal(t, []string{first}, listed("--assignee", "me"))
	require.Equal(t, []string{first}, listed("--tag", "TWO words", "--assignee", "bob"))
	require.Empty(t, listed("--handling", "open"))

	table := tarsyWith(t, ana, "", "sessions", "list")
	require.Regexp(t, `(?m)resolved, bob .*two words`, table.stdout)
	require.Regexp(t, `(?m)acknowledged `, table.stdout)

	shown := tarsyWith(t, ana, "", "sessions", "show", first).stdout
	require.Regexp(t, `(?m)^handling +resolved by bob\nresolution +cleaned up\S*\nassigned to +bob\ntags +two words$`, shown)
	require.NotContains(t, shown, "\x1b[2J")

	require.Contains(t, handle(ana, "assign", first, "--to", ""), "resolved by bob, tags")
	require.NotContains(t, handle(ana, "reopen", first), "resolved")
	require.Contains(t, handle(ana, "ack", first, "--assign"), "acknowledged by ana, assigned to ana")
}

func TestHandlingReportsWhichSessionFailed(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	ana := s.key(t, "ana", tarsy.ScopeWrite)
	id := jsonOf[tarsy.SessionDetail](t, ana, "submit", "-m", "disk full", "--wait").ID
	missing := ident.New()

	got := tarsyWith(t, ana, "", "sessions", "ack", id, missing)
	require.Equal(t, cli.ExitNotFound, got.code, got.stderr)
	require.Contains(t, got.stderr, id[24:]+": acknowledged by ana")
	require.Contains(t, got.stderr, missing[24:]+": ")

	for _, bad := range [][]string{
		{"ack"}, {"assign", id}, {"tag", id}, {"tag", id, "--add", strings.Repeat("x", tarsy.MaxTag+1)},
		{"resolve", id, "--note", strings.Repeat("x", tarsy.MaxResolution+1)}, {"list", "--handling", "closed"},
	} {
		got := tarsyWith(t, ana, "", append([]string{"sessions"}, bad...)...)
		require.Equal(t, cli.ExitUsage, got.code, "%v: %s", bad, got.stderr)
		require.NotEmpty(t, got.stderr)
	}

	require.Equal(t, cli.ExitAuth, tarsyWith(t, s.key(t, "reader", tarsy.ScopeRead), "", "sessions", "ack", id).code)
}
