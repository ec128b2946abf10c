package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
)

func TestAuditIsListedExportedAndVerified(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	admin := s.key(t, "root", tarsy.ScopeAdmin)
	writer := s.key(t, "ana", tarsy.ScopeWrite)

	require.Contains(t, tarsyWith(t, admin, "", "audit", "list").stderr, "No rows found.")
	require.Contains(t, tarsyWith(t, admin, "", "audit", "verify").stdout, "0 rows verified.")

	for _, reason := range []string{"one", "two", "three"} {
		require.Equal(t, cli.ExitOK, tarsyWith(t, writer, "", "silences", "add", "a="+reason, "--for", "1h", "--reason", reason).code)
	}

	require.Equal(t, cli.ExitAuth, tarsyWith(t, writer, "", "audit", "list").code)

	listed := jsonOf[[]tarsy.AuditEntry](t, admin, "audit", "list", "--actor", "ana", "--limit", "2")
	require.Len(t, listed, 2)
	require.EqualValues(t, 3, listed[0].ID)
	require.Contains(t, tarsyWith(t, admin, "", "audit", "list").stdout, "silence.create")

	file := filepath.Join(t.TempDir(), "audit.jsonl")
	got := tarsyWith(t, admin, "", "audit", "export", "-f", file)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, listed[0].Hash)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, string(text), tarsyWith(t, admin, "", "audit", "export").stdout)

	for _, args := range [][]string{{"audit", "verify"}, {"audit", "verify", "--file", file}} {
		got := tarsyWith(t, admin, "", append(args, "--expect-head", listed[1].Hash)...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.Equal(t, "3 rows verified.\nHead: "+listed[0].Hash+"\n", got.stdout)
	}

	lines := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")

	for want, changed := range map[string]string{
		"broken at row 2: its contents":        lines[0] + strings.Replace(lines[1], `"ana"`, `"eve"`, 1) + lines[2],
		"broken at row 3: row 2 should be":     lines[0] + lines[2],
		"broken at row 3: row 2 should be her": lines[0] + lines[2] + "\n" + lines[1],
		"broken at row 1: row 2 should be":     lines[0] + lines[0],
		"line 2 is not a row":                  lines[0] + "{}}",
		"unknown field":                        strings.Replace(lines[0], `{"id"`, `{"approved":true,"id"`, 1),
	} {
		require.NoError(t, os.WriteFile(file, []byte(changed), 0o600))

		got := tarsyWith(t, nil, "", "audit", "verify", "--file", file)
		require.Equal(t, cli.ExitFailed, got.code, want)
		require.Contains(t, got.stderr, want)
	}

	require.NoError(t, os.WriteFile(file, []byte(lines[0]+lines[1]), 0o600))
	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "audit", "verify", "--file", file).code, "a log that ends earlier is a log")

	got = tarsyWith(t, nil, "", "audit", "verify", "--file", file, "--expect-head", listed[0].Hash)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stderr, "truncated or rewritten")
}

func TestKeyChangesInDatabaseAreAudited(t *testing.T) {
	t.Parallel()

	s := startServer(t, true)
	admin := s.key(t, "root", tarsy.ScopeAdmin)

	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "keys", "create", "rescue", "--database-url", s.database).code)

	rows := jsonOf[[]tarsy.AuditEntry](t, admin, "audit", "list")
	require.Len(t, rows, 1)
	require.Equal(t, tarsy.ActorCLI, rows[0].ActorKind)
	require.Equal(t, "key.create", rows[0].Action)
	require.Equal(t, "rescue", rows[0].Details["name"])
	require.NotEmpty(t, rows[0].Actor)
}
