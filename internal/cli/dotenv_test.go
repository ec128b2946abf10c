package cli_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

// Variables next to the configuration apply to everything that the configuration references, unless the environment sets them.
func TestVariablesNextToConfigurationAreRead(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, "queue: {worker_count: '{{.WORKERS}}', max_concurrent_sessions: '{{.SESSIONS}}'}\nllm_providers: {own: {type: openai, model: m, api_key_env: OWN_KEY}}\ndefaults: {llm_provider: own}\n")
	check := func(env ...string) result {
		return tarsyWith(t, append(env, "HOME=/h"), "", "config", "check", "--config-dir", dir)
	}

	got := check("SESSIONS=5")
	require.NotEqual(t, cli.ExitOK, got.code)
	require.Contains(t, got.stdout+got.stderr, "environment variable WORKERS is not set")

	write := func(text string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, ".env"), []byte(text), 0o600))
	}

	write("# of this team\nexport WORKERS=3\nSESSIONS='not a number'\nOWN_KEY=\"sk-of-the-file\"\n")

	got = check("SESSIONS=5")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.NotContains(t, got.stdout+got.stderr, "OWN_KEY", "it is set")

	for _, path := range []string{dir, filepath.Join(dir, "tarsy.yaml")} {
		got = tarsyWith(t, []string{"SESSIONS=5", "HOME=/h"}, "", "config", "show", "-o", "json", "--config-dir", path)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)
		require.NotContains(t, got.stdout, "sk-of-the-file")
	}

	write("WORKERS\n'half sk-secret\n")

	got = check("SESSIONS=5")
	require.NotEqual(t, cli.ExitOK, got.code)
	require.Contains(t, got.stderr, filepath.Join(dir, ".env")+": lines must be NAME=value")
	require.NotContains(t, got.stderr, "sk-secret")
}
