package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
	"tarsy.dev/tarsy/internal/release"
)

func writeConfig(t *testing.T, text string) string {
	t.Helper()

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tarsy.yaml"), []byte(text), 0o600))

	return dir
}

// shown finds one setting in the output of config show.
func shown(t *testing.T, got result, path string) (value, origin string) {
	t.Helper()
	require.Equal(t, cli.ExitOK, got.code, got.stderr)

	var settings []struct{ Path, Value, Origin string }
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &settings))

	for _, s := range settings {
		if s.Path == path {
			return s.Value, s.Origin
		}
	}

	return "", ""
}

func TestFlagsOverrideVariablesOverrideFilesOverrideDefaults(t *testing.T) {
	t.Parallel()

	home := "HOME=" + t.TempDir()
	file := "--config-dir=" + writeConfig(t, "queue: {worker_count: 3}\n")

	for name, c := range map[string]struct {
		env           []string
		args          []string
		path          string
		value, origin string
	}{
		"built in":                    {nil, nil, "queue.worker_count", "5", "built-in"},
		"file":                        {nil, []string{file}, "queue.worker_count", "3", "tarsy.yaml:1"},
		"variable over file":          {[]string{"TARSY_WORKERS=7"}, []string{file}, "queue.worker_count", "7", "env TARSY_WORKERS"},
		"flag over variable":          {[]string{"TARSY_WORKERS=7"}, []string{file, "--workers=9"}, "queue.worker_count", "9", "flag --workers"},
		"empty variable counts not":   {[]string{"TARSY_WORKERS="}, []string{file}, "queue.worker_count", "3", "tarsy.yaml:1"},
		"limit follows the workers":   {nil, []string{"--workers=9"}, "queue.max_concurrent_sessions", "9", "flag --workers"},
		"limit stays if large enough": {nil, []string{"--workers=4"}, "queue.max_concurrent_sessions", "5", "built-in"},
		"listen by default":           {nil, nil, "--listen", "127.0.0.1:8080", "default"},
		"listen by variable":          {[]string{"TARSY_LISTEN=:9"}, nil, "--listen", ":9", "env TARSY_LISTEN"},
		"listen by flag":              {[]string{"TARSY_LISTEN=:9"}, []string{"--listen=:8"}, "--listen", ":8", "flag --listen"},
		"data directory":              {[]string{"XDG_DATA_HOME=/data"}, nil, "--data-dir", "/data/tarsy", "default"},
		"password hidden": {
			[]string{"TARSY_DATABASE_URL=postgres://me:secret@db/tarsy"}, nil, "--database-url", "postgres://db/tarsy (credentials hidden)",
			"env TARSY_DATABASE_URL",
		},
		"odd address hidden": {nil, []string{"--database-url=host=db password=secret"}, "--database-url", "********", "flag --database-url"},
		"log level":          {[]string{"TARSY_LOG_LEVEL=debug"}, nil, "--log-level", "debug", "env TARSY_LOG_LEVEL"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			args := append([]string{"config", "show", "-o", "json"}, c.args...)
			value, origin := shown(t, tarsyWith(t, append(c.env, home), "", args...), c.path)
			require.Equal(t, c.value, value)
			require.Equal(t, c.origin, origin)
		})
	}
}

func TestFileSessionLimitAppliesWithAnyWorkerCount(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, "queue: {max_concurrent_sessions: 2}\n")
	got := tarsyWith(t, []string{"HOME=/h"}, "", "config", "show", "-o", "json", "--workers", "9", "--config-dir", dir)
	value, origin := shown(t, got, "queue.max_concurrent_sessions")
	require.Equal(t, "2", value)
	require.Equal(t, "tarsy.yaml:1", origin)
}

func TestBadVariablesAreRefusedByName(t *testing.T) {
	t.Parallel()

	for variable, want := range map[string]string{
		"TARSY_WORKERS=many":   `TARSY_WORKERS: "many" is not a number`,
		"TARSY_WORKERS=0":      "env TARSY_WORKERS: at least one worker is needed, not 0",
		"TARSY_AUTH=maybe":     `TARSY_AUTH: "maybe" is not one of auto, on, off`,
		"TARSY_LOG_LEVEL=loud": `TARSY_LOG_LEVEL: "loud" is not one of debug, info, warn, error`,
	} {
		got := tarsyWith(t, []string{variable}, "", "serve")
		require.Equal(t, cli.ExitUsage, got.code, got.stderr)
		require.Equal(t, "tarsy: "+want+"\n", got.stderr)
	}
}

func TestConfigCheckPrintsEveryProblemAndFails(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, "queue: {worker_cont: 3}\ndefaults: {llm_provider: none}\n")
	got := tarsyWith(t, nil, "", "config", "check", "--config-dir", dir)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stdout, "tarsy.yaml:1: queue.worker_cont: ")
	require.Contains(t, got.stdout, "worker_count")
	require.Equal(t, 2, strings.Count(got.stdout, "\n"), got.stdout)

	got = tarsyWith(t, nil, "", "config", "check", "--config-dir", dir, "-o", "json")
	require.Equal(t, cli.ExitFailed, got.code)

	var verdict struct {
		OK       bool `json:"ok"`
		Problems []struct {
			File string `json:"file"`
			Line int    `json:"line"`
		} `json:"problems"`
	}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &verdict))
	require.False(t, verdict.OK)
	require.Len(t, verdict.Problems, 2)
	require.Equal(t, 1, verdict.Problems[0].Line)

	got = tarsyWith(t, nil, "", "serve", "--config-dir", dir)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stderr, "tarsy: configuration: 2 problems\n")

	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "config", "check").code)
}

func TestConfigCheckRefusesWhatServeRefuses(t *testing.T) {
	t.Parallel()

	for text, want := range map[string]string{
		"system: {allowed_ws_origins: ['[bad']}\n":                       "system.allowed_ws_origins[0]: not an origin pattern",
		"system: {trusted_proxies: [10.0.0.0/33]}\n":                     "system.trusted_proxies[0]: not a network",
		"system: {retention: {purge_after_days: 106752}}\n":              "system.retention.purge_after_days: must be at most 36500",
		"system: {runbooks: {allowed_domains: ['https://a.example']}}\n": "system.runbooks.allowed_domains[0]: not a host name",
	} {
		got := tarsyWith(t, nil, "", "config", "check", "--config-dir", writeConfig(t, text))
		require.Equal(t, cli.ExitFailed, got.code, text)
		require.Contains(t, got.stdout, want)
	}

	good := writeConfig(t, "system: {trusted_proxies: [10.0.0.1], allowed_ws_origins: ['https://ops.example.org/']}\n")
	require.Equal(t, cli.ExitOK, tarsyWith(t, nil, "", "config", "check", "--config-dir", good).code)
	require.Equal(t, cli.ExitUsage, tarsyWith(t, []string{"TARSY_WORKERS=0"}, "", "config", "check", "--config-dir", good).code)
}

func TestSchemaIsJSON(t *testing.T) {
	t.Parallel()

	got := tarsyWith(t, nil, "", "config", "schema")
	require.Equal(t, cli.ExitOK, got.code)
	require.True(t, json.Valid([]byte(got.stdout)))
}

func TestDoctorReportsFailuresAndFixes(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))

	dir := writeConfig(t, "queue: {worker_cont: 3}\n")
	got := tarsyWith(t, nil, "", "doctor", "--listen", "127.0.0.1:0", "--pg-bin", t.TempDir(), "--data-dir", file+"/below", "--config-dir", dir)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stdout, "fail  PostgreSQL: there is no program postgres")
	require.Contains(t, got.stdout, "→ run make setup")
	require.Contains(t, got.stdout, "fail  data directory: "+file+" is not a directory")
	require.Contains(t, got.stdout, "ok    address: 127.0.0.1:0 is free")
	require.Contains(t, got.stdout, "fail  configuration: tarsy.yaml:1: queue.worker_cont")

	s := startServer(t, false)
	good := writeConfig(t, serverConfig)
	got = tarsyWith(t, s.env, "", doctorArgs(t, "--listen", s.Addr(), "--config-dir", good)...)
	require.Equal(t, cli.ExitOK, got.code, got.stdout)
	require.Contains(t, got.stdout, "warn  address: ")
	require.Contains(t, got.stdout, "ok    server: http://"+s.Addr()+" is healthy")
}

func TestVersionAndCompletionPrintToStdout(t *testing.T) {
	t.Parallel()

	require.Regexp(t, `^tarsy `+regexp.QuoteMeta(release.Version)+`,.* go1\.`, tarsyWith(t, nil, "", "version").stdout)
	require.Contains(t, tarsyWith(t, nil, "", "version", "-o", "json").stdout, `"go": "go1.`)
	require.Contains(t, tarsyWith(t, nil, "", "completion", "bash").stdout, "bash completion")
}

func TestConfigCheckPrintsNotesSeparatelyFromWarnings(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, "defaults: {llm_provider: scripted, memory: {enabled: true}, scoring: {enabled: false}}\nllm_providers: {scripted: {type: scripted}}\n")
	got := tarsyWith(t, nil, "", "config", "check", "--config-dir", dir)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Equal(t, "note: tarsy.yaml:1: defaults.memory: is accepted but has no effect yet\n", got.stdout)

	got = tarsyWith(t, nil, "", "config", "check", "--config-dir", dir, "-o", "json")
	require.JSONEq(t, `{"ok": true, "problems": [], "warnings": [],
		"notes": [{"file": "tarsy.yaml", "line": 1, "column": 36, "path": "defaults.memory", "message": "is accepted but has no effect yet"}]}`, got.stdout)
}

func TestUserOfMCPServerIsCheckedOnThisMachine(t *testing.T) {
	t.Parallel()

	dir := writeConfig(t, `
mcp_servers:
  spy: {transport: {type: stdio, command: spy, user: tarsy-no-such-user}}
  web: {transport: {type: http, url: "http://127.0.0.1/mcp"}}
`)

	got := tarsyWith(t, nil, "", "config", "check", "--config-dir", dir)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stdout, "tarsy.yaml:3: ")
	require.Contains(t, got.stdout, `mcp_servers.spy.transport.user: user "tarsy-no-such-user" does not exist on this machine`)

	got = tarsyWith(t, []string{"HOME=" + t.TempDir()}, "", "serve", "--config-dir", dir)
	require.Equal(t, cli.ExitFailed, got.code)
	require.Contains(t, got.stderr, "mcp_servers.spy.transport.user")
}
