package cli_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
)

// jsonOf runs a command with -o json and decodes its output.
func jsonOf[T any](t *testing.T, env []string, args ...string) T {
	t.Helper()

	got := tarsyWith(t, env, "", append(args, "-o", "json")...)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	var value T
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &value), got.stdout)

	return value
}

func TestSilencesAreAddedListedAndEnded(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	env := s.key(t, "ana", tarsy.ScopeWrite)

	require.Contains(t, tarsyWith(t, env, "", "silences", "list").stderr, "No silences found.")
	require.Empty(t, jsonOf[[]tarsy.Silence](t, env, "silences", "list"))

	got := tarsyWith(t, env, "", "silences", "add", "namespace=tarsy-test", `alertname=~"Tarsy.*"`, "--for", "2h", "--reason", "load test")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	id := strings.TrimSpace(got.stdout)
	require.True(t, ident.Valid(id), got.stdout)
	require.Contains(t, got.stderr, "tarsy silences end "+id[24:])

	until := tarsyNow().Add(48 * time.Hour).UTC().Truncate(time.Second)
	later := jsonOf[tarsy.Silence](t, env, "silences", "add", "team=payments", "--reason", "move",
		"--from", until.Add(-time.Hour).Format(time.RFC3339), "--until", until.Format(time.RFC3339))
	require.Equal(t, until, later.EndsAt.UTC())
	require.Equal(t, until.Add(-time.Hour), later.StartsAt.UTC())

	got = tarsyWith(t, env, "", "silences", "list")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `(?m)^`+id[24:]+` +ends in 1h +namespace="tarsy-test", alertname=~"Tarsy\.\*" +ana +load test$`, got.stdout)
	require.Regexp(t, `(?m)^`+later.ID[24:]+` +starts in 46h +team="payments" +ana +move$`, got.stdout)

	for _, bad := range [][]string{
		{"--for", "2h", "--reason", "r"},
		{"a=b", "--reason", "r"},
		{"a=b", "--for", "2h"},
		{"a=b", "--for", "-2h", "--reason", "r"},
		{"a=b", "--for", "2h", "--until", "2030-01-01T00:00:00Z", "--reason", "r"},
		{"a=~(", "--for", "2h", "--reason", "r"},
		{"a=b", "--until", "tomorrow", "--reason", "r"},
		{"a=b", "--until", "2020-01-01T00:00:00Z", "--reason", "r"},
	} {
		got = tarsyWith(t, env, "", append([]string{"silences", "add"}, bad...)...)
		require.Equal(t, cli.ExitUsage, got.code, "%v: %s", bad, got.stderr)
		require.NotEmpty(t, got.stderr)
	}

	require.Len(t, jsonOf[[]tarsy.Silence](t, env, "silences", "list"), 2)

	got = tarsyWith(t, env, "", "silences", "end", id[24:])
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	listed := jsonOf[[]tarsy.Silence](t, env, "silences", "list")
	require.Len(t, listed, 1)
	require.Equal(t, later.ID, listed[0].ID)
	require.Regexp(t, `(?m)^`+id[24:]+` +ended by ana `, tarsyWith(t, env, "", "silences", "list", "--all").stdout)

	require.Equal(t, cli.ExitNotFound, tarsyWith(t, env, "", "silences", "end", ident.New()).code)

	reader := s.key(t, "reader", tarsy.ScopeRead)
	require.Equal(t, cli.ExitAuth, tarsyWith(t, reader, "", "silences", "add", "a=b", "--for", "2h", "--reason", "r").code)
	require.Equal(t, cli.ExitOK, tarsyWith(t, reader, "", "silences", "list").code)
}

func TestSuppressedAlertsAreListedAndInvestigated(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	require.Contains(t, tarsyWith(t, s.env, "", "suppressed", "list").stderr, "No suppressed alerts found.")

	silence := jsonOf[tarsy.Silence](t, s.env, "silences", "add", "source=alertmanager", "--for", "2h", "--reason", "load test")

	got := tarsyWith(t, s.env, "", "webhooks", "test", "--source", "alertmanager")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `alertmanager/default +silence +Test alert from tarsy webhooks test .*load test`, got.stdout)

	// The second Grafana sample counts towards the session of the first.
	require.Equal(t, cli.ExitOK, tarsyWith(t, s.env, "", "webhooks", "test", "--source", "grafana").code)
	got = tarsyWith(t, s.env, "", "webhooks", "test", "--source", "grafana")
	require.Regexp(t, `grafana/default +count `, got.stdout)

	all := jsonOf[[]tarsy.SuppressedAlert](t, s.env, "suppressed", "list")
	require.Len(t, all, 2)

	duplicate, silenced := all[0], all[1]
	require.Equal(t, tarsy.SuppressedDuplicate, duplicate.Reason)
	require.Equal(t, tarsy.SuppressedSilence, silenced.Reason)
	require.Equal(t, silence.ID, silenced.Silence)

	got = tarsyWith(t, s.env, "", "suppressed", "list")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `(?m)^`+silenced.ID[24:]+` +silence +info +1 +\d+s +`+silence.ID[24:]+` +Test alert from tarsy webhooks test$`, got.stdout)
	require.Regexp(t, `(?m)^`+duplicate.ID[24:]+` +duplicate +info +1 +\d+s +`+(*duplicate.SessionID)[24:]+` +Test alert`, got.stdout)

	for _, filter := range [][]string{
		{"--reason", "silence"}, {"--session", (*duplicate.SessionID)[28:]}, {"--limit", "1"},
	} {
		require.Len(t, jsonOf[[]tarsy.SuppressedAlert](t, s.env, append([]string{"suppressed", "list"}, filter...)...), 1, filter)
	}

	require.Len(t, jsonOf[[]tarsy.SuppressedAlert](t, s.env, "suppressed", "list", "--severity", "info", "--search", "webhooks", "--all"), 2)
	require.Empty(t, jsonOf[[]tarsy.SuppressedAlert](t, s.env, "suppressed", "list", "--severity", "critical"))

	for _, bad := range [][]string{{"--reason", "bored"}, {"--severity", "bad"}, {"--limit", "0"}} {
		got = tarsyWith(t, s.env, "", append([]string{"suppressed", "list"}, bad...)...)
		require.Equal(t, cli.ExitUsage, got.code, got.stderr)
	}

	got = tarsyWith(t, s.env, "", "suppressed", "investigate", silenced.ID[24:], "--wait")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, "# Found it\n\nThe cache has no bound.\n", got.stdout)
	require.Contains(t, got.stderr, "Alert: Test alert from tarsy webhooks test (info, tarsy-test/example)\n")

	listed := jsonOf[[]tarsy.SuppressedAlert](t, s.env, "suppressed", "list", "--reason", "silence")
	require.NotNil(t, listed[0].InvestigationID)

	got = tarsyWith(t, s.env, "", "suppressed", "investigate", duplicate.ID)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.True(t, ident.Valid(strings.TrimSpace(got.stdout)), got.stdout)

	require.Equal(t, cli.ExitNotFound, tarsyWith(t, s.env, "", "suppressed", "investigate", ident.New()).code)
}
