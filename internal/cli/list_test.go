package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
)

func TestEveryListHasAllFormats(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)

	for _, command := range lists(s.crowded(t)) {
		in := func(format string) string {
			got := inTerminal(t, 80, s.env, append(slices.Clone(command), "-o", format)...)
			require.Equal(t, cli.ExitOK, got.code, got.stderr)
			require.NotContains(t, got.stdout, "\u202e", command)
			require.NotContains(t, got.stdout, "\x1b[2J", command)

			return got.stdout
		}

		var items []map[string]any

		whole := in("json")
		require.NoError(t, json.Unmarshal([]byte(whole), &items))
		require.NotEmpty(t, items, command)

		text := in("yaml")
		require.NotContains(t, text, "\x1b")

		var decoded any

		require.NoError(t, yaml.Unmarshal([]byte(text), &decoded), text)

		same, err := json.Marshal(decoded)
		require.NoError(t, err)
		require.JSONEq(t, whole, string(same), command)

		names := strings.Split(strings.TrimSuffix(in("name"), "\n"), "\n")
		require.Len(t, names, len(items), command)
		require.NotContains(t, names, "", command)

		if id, ok := items[0]["id"].(string); ok {
			require.Equal(t, id, names[0], "a whole id")
		}

		require.Equal(t, len(items)+1, strings.Count(in("wide"), "\n"), "a table in which nothing is cut: %v", command)
		require.Equal(t, cli.ExitUsage, tarsyWith(t, s.env, "", append(slices.Clone(command), "-o", "xml")...).code)
	}
}

func TestEveryGroupListsByDefaultAndHasSingularName(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	s.crowded(t)

	singular := map[string]string{"sessions": "session", "approvals": "approval", "keys": "key", "silences": "silence", "webhooks": "webhook"}

	for _, group := range cli.Root().Commands() {
		if !group.HasAvailableSubCommands() || group.Name() == "config" || group.Name() == "database" {
			continue
		}

		want := tarsyWith(t, s.env, "", group.Name(), "list", "-o", "name")
		require.Equal(t, cli.ExitOK, want.code, want.stderr)
		require.NotEmpty(t, want.stdout)
		require.Equal(t, want, tarsyWith(t, s.env, "", group.Name(), "-o", "name"))

		if name := singular[group.Name()]; name != "" {
			require.Equal(t, want, tarsyWith(t, s.env, "", name, "-o", "name"))
		}
	}
}

func TestEveryCommandAboutSessionAcceptsShortIDs(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	more := map[string][]string{
		"ask": {"why?"}, "sessions assign": {"--to", "me"}, "sessions tag": {"--add", "capacity"},
	}

	for _, name := range commandsBelow(cli.Root()) {
		cmd := commandOf(t, name)

		var argument []string

		switch {
		case strings.Contains(cmd.Use, "SESSION"):
			argument = []string{"abcdefabcdef"}
		case cmd.Flags().Lookup("from-session") != nil:
			argument = []string{"--from-session", "abcdefabcdef"}
		case cmd.Flags().Lookup("session") != nil:
			argument = []string{"--session", "abcdefabcdef"}
		default:
			continue
		}

		got := tarsyWith(t, s.env, "", slices.Concat(strings.Fields(name), argument, more[name])...)
		require.Equal(t, cli.ExitNotFound, got.code, "%s: %s", name, got.stderr)
		require.Contains(t, got.stderr, `no session matches "abcdefabcdef"`, name)
	}
}

func TestShellsCompleteIDs(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	call := s.waiting(t)
	id := s.crowded(t)
	silence := jsonOf[[]tarsy.Silence](t, s.env, "silences")[0]
	suppressed := jsonOf[[]tarsy.SuppressedAlert](t, s.env, "suppressed")[0]
	key := jsonOf[[]tarsy.APIKey](t, s.env, "keys")[0]

	for _, c := range []struct {
		command []string
		want    string
	}{
		{[]string{"approvals", "show"}, call.ID[24:] + "\tcluster.scale"},
		{[]string{"approvals", "approve"}, call.ID[24:] + "\tcluster.scale"},
		{[]string{"approvals", "reject"}, call.ID[24:] + "\tcluster.scale"},
		{[]string{"silences", "end"}, silence.ID[24:] + "\tsource="},
		{[]string{"suppressed", "investigate"}, suppressed.ID[24:] + "\tTest alert"},
		{[]string{"keys", "revoke"}, key.Prefix + "\ta key with"},
		{[]string{"sessions", "ack", call.SessionID}, id[24:] + "\tcheckout is slow"},
		{[]string{"notes", "--session"}, id[24:] + "\tcheckout is slow"},
		{[]string{"note", "--from-session"}, id[24:] + "\tcheckout is slow"},
		{[]string{"approvals", "--session"}, id[24:] + "\tcheckout is slow"},
		{[]string{"pause"}, "all"},
	} {
		got := tarsyWith(t, s.env, "", slices.Concat([]string{"__complete"}, c.command, []string{""})...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Contains(t, got.stdout, c.want, c.command)
		require.NotContains(t, got.stdout, "\x1b")
	}

	got := tarsyWith(t, s.env, "", "__complete", "approvals", "show", call.ID, "")
	require.NotContains(t, got.stdout, call.ID[24:], "it takes one id")
}
