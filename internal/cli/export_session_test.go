package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy"
	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/ident"
)

func TestRerunIsNewSessionOfSameAlert(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	first := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow", "--type", "other").stdout)
	s.until(t, first, tarsy.SessionCompleted)

	got := tarsyWith(t, s.env, "", "rerun", first[28:])
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	again := strings.TrimSpace(got.stdout)
	require.True(t, ident.Valid(again), "stdout is the id alone: %q", got.stdout)
	require.NotEqual(t, first, again)
	require.Contains(t, got.stderr, "tarsy watch "+again)
	require.Contains(t, got.stderr, "https://tarsy.example/sessions/"+again, "the page of the new session")

	detail, err := s.DB().SessionDetail(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, &first, detail.RerunOf)
	require.Equal(t, []string{"checkout is slow", "other"}, []string{detail.AlertData, detail.AlertType})

	got = tarsyWith(t, s.env, "", "rerun", first, "--wait")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, "# Found it\n\nThe cache has no bound.\n", got.stdout)

	got = tarsyWith(t, s.env, "", "rerun", first, "-o", "json")

	var accepted struct {
		SessionID string `json:"session_id"`
		Status    string `json:"status"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &accepted))
	require.Equal(t, "pending", accepted.Status)

	require.Equal(t, cli.ExitNotFound, tarsyWith(t, s.env, "", "rerun", ident.New()).code)
}

func TestRerunTakesAnotherChainProviderAndTools(t *testing.T) {
	t.Parallel()

	s := startServerWith(t, false, "llm_providers: {second: {type: scripted}}", nil)
	first := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow").stdout)
	s.until(t, first, tarsy.SessionCompleted)

	got := tarsyWith(t, s.env, "", "rerun", first, "--chain", "silent", "--provider", "second", "--mcp", "cluster:get_pods")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	again := strings.TrimSpace(got.stdout)
	s.until(t, again, tarsy.SessionCompleted)

	detail, err := s.DB().SessionDetail(t.Context(), again)
	require.NoError(t, err)
	require.Equal(t, []string{"silent", "second", "second"}, []string{detail.ChainID, detail.LLMProvider, detail.Stages[0].Executions[0].LLMProvider})
	require.Equal(t, []tarsy.MCPServerSelection{{Name: "cluster", Tools: []string{"get_pods"}}}, detail.MCPSelection.Servers)

	shown := tarsyWith(t, s.env, "", "sessions", "show", again).stdout
	require.Regexp(t, `(?m)^provider +second$`, shown)
	require.Regexp(t, `(?m)^re-run of +`+first+`$`, shown)
	require.Regexp(t, `(?m)^re-runs +`+again+`$`, tarsyWith(t, s.env, "", "sessions", "show", first).stdout)

	got = tarsyWith(t, s.env, "", "rerun", again, "--provider", "")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	detail, err = s.DB().SessionDetail(t.Context(), strings.TrimSpace(got.stdout))
	require.NoError(t, err)
	require.Equal(t, []string{"silent", ""}, []string{detail.ChainID, detail.LLMProvider}, "the providers of the chain")

	for _, bad := range [][]string{{"--chain", "nope"}, {"--provider", "nope"}, {"--mcp", "nope"}, {"--mcp", ":x"}} {
		got = tarsyWith(t, s.env, "", append([]string{"rerun", first}, bad...)...)
		require.NotEqual(t, cli.ExitOK, got.code, bad)
		require.Empty(t, got.stdout)
	}
}

func TestExportWritesToStdoutOrFileWithoutEscapeSequences(t *testing.T) {
	t.Parallel()

	s := startServer(t, false)
	id := strings.TrimSpace(tarsyWith(t, s.env, "", "submit", "-m", "checkout is slow").stdout)
	s.until(t, id, tarsy.SessionCompleted)

	got := tarsyWith(t, s.env, "", "export", id)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.NotContains(t, got.stdout, "\x1b")

	var export tarsy.Export
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &export))
	require.Equal(t, id, export.Session.ID)
	require.Equal(t, analysis, export.Session.FinalAnalysis, "programs get all of it")
	require.NotEmpty(t, export.Timeline)
	require.NotEmpty(t, export.Trace.Stages)

	got = tarsyWith(t, s.env, "", "export", id[28:], "--format", "markdown")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stdout, "## Final analysis\n\n### Found it\n\nThe cache has no bound.\n")
	require.NotContains(t, got.stdout, "\x1b")

	dir := t.TempDir()
	file := filepath.Join(dir, "report.md")
	require.NoError(t, os.WriteFile(file, []byte("older"), 0o600))

	got = tarsyWith(t, s.env, "", "export", id, "--format", "markdown", "-f", file)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Empty(t, got.stdout)
	require.Contains(t, got.stderr, file)

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(text), "The cache has no bound.\n")
	require.NotContains(t, string(text), "\x1b", "the server leaves out escape sequences")

	got = tarsyWith(t, s.env, "", "export", ident.New(), "-f", file)
	require.Equal(t, cli.ExitNotFound, got.code)

	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, text, kept, "what is there stays where nothing new came")

	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, cli.ExitUsage, tarsyWith(t, s.env, "", "export", id, "--format", "pdf").code)
}
