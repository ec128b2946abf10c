package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"tarsy.dev/tarsy/internal/cli"
)

// useFakeNPX makes npx start the demo's MCP server instead of a program from the internet.
func useFakeNPX(t *testing.T) {
	t.Helper()

	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "npx"), []byte("#!/bin/sh\nexec '"+os.Args[0]+"' demo-mcp\n"), 0o700))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
}

// fakePrometheus answers queries like Prometheus.
func fakePrometheus(t *testing.T) string {
	t.Helper()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/api/v1/query" {
			_, _ = w.Write([]byte(`{"status":"success","data":{"resultType":"scalar","result":[1794833492.57,"1"]}}`))
		}
	}))
	t.Cleanup(server.Close)

	return server.URL
}

// initIn runs tarsy init, in a terminal or without one.
func initIn(t *testing.T, dir string, env []string, terminal bool, stdin string, args ...string) result {
	t.Helper()

	stdout, stderr := newBuffer(), newBuffer()
	columns := 0

	if terminal {
		columns = 80
	}

	code := cli.Run(t.Context(), cli.Process{
		Name: "tarsy", Args: slices.Concat([]string{"init", "--config-dir", dir}, privateDatabase(t), args),
		Stdin: strings.NewReader(stdin), Stdout: stdout, Stderr: stderr, Env: append(env, "TERM=dumb"), Executable: os.Args[0],
		Columns: func(any) int { return columns },
	})

	return result{code, stdout.String(), stderr.String()}
}

func readFile(t *testing.T, path ...string) string {
	t.Helper()

	text, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)

	return string(text)
}

func requireGolden(t *testing.T, name, got string) {
	t.Helper()

	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o600))
	}

	require.Equal(t, readFile(t, path), got, "run go test ./internal/cli -update")
}

func TestInitWritesConfigurationFromWhatItFinds(t *testing.T) {
	useFakeNPX(t)

	home, dir := t.TempDir(), filepath.Join(t.TempDir(), "new", "config")
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".kube"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, ".kube", "config"), nil, 0o600))

	prometheus := fakePrometheus(t)
	env := []string{"HOME=" + home, "ANTHROPIC_API_KEY=anthropic-secret", "PROMETHEUS_URL=" + prometheus}

	got := initIn(t, dir, env, false, "", "--url", "http://tarsy.example:8080/")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Regexp(t, `LLM provider anthropic-default \(ANTHROPIC_API_KEY is set\)\nKubernetes   \S+/.kube/config\nPrometheus   http://127.0.0.1:\d+\n`, got.stderr)
	require.Contains(t, got.stderr, " --listen 0.0.0.0:8080\n", "or Alertmanager could not reach it")
	require.Contains(t, got.stdout, "ok    configuration: ")
	require.Contains(t, got.stdout, "ok    LLM provider anthropic-default: ")
	require.Contains(t, got.stdout, "ok    MCP server kubernetes-server: stdio, 13 tools\n", "what may change something waits for a person")
	require.NotContains(t, got.stdout, "fail ")
	require.NotContains(t, got.stdout, "TOKEN is not set", "the checks know the variables that were written")
	require.Contains(t, got.stdout, `url: "http://tarsy.example:8080/api/v1/webhooks/alertmanager/main"`)
	require.Contains(t, got.stdout, `credentials: "<TARSY_ALERTMANAGER_TOKEN of `)

	text := readFile(t, dir, "tarsy.yaml")
	requireGolden(t, "init.yaml.golden", text)

	variables := readFile(t, dir, "tarsy.env")
	token := regexp.MustCompile(`(?m)^TARSY_ALERTMANAGER_TOKEN=(\w{26})$`).FindStringSubmatch(variables)
	require.Len(t, token, 2, variables)
	require.Contains(t, variables, "\nPROMETHEUS_URL="+prometheus+"\nKUBECONFIG="+home+"/.kube/config\n")
	require.NotContains(t, text+variables+got.stdout+got.stderr, "anthropic-secret")
	require.NotContains(t, text+got.stdout+got.stderr, token[1], "without a terminal, what is printed ends up in logs")

	info, err := os.Stat(filepath.Join(dir, "tarsy.env"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode())

	check := tarsyWith(t, append(env, "TARSY_ALERTMANAGER_TOKEN="+token[1]), "", "config", "check", "--config-dir", dir)
	require.Equal(t, cli.ExitOK, check.code)
	require.Empty(t, check.stdout, "there is nothing to warn of")

	// The file that init wrote stands for the environment of the server.
	check = tarsyWith(t, []string{"HOME=" + home, "ANTHROPIC_API_KEY=anthropic-secret"}, "", "config", "check", "--config-dir", dir)
	require.Equal(t, cli.ExitOK, check.code, check.stdout)
	require.Empty(t, check.stdout)
	require.Contains(t, check.stderr, filepath.Join(dir, "tarsy.env"))

	doctor := tarsyWith(t, []string{"HOME=" + home, "ANTHROPIC_API_KEY=anthropic-secret"}, "",
		append([]string{"doctor", "--config-dir", filepath.Join(dir, "tarsy.yaml")}, privateDatabase(t)...)...)
	require.Equal(t, cli.ExitOK, doctor.code, doctor.stdout)
	require.NotContains(t, doctor.stdout, "is not set")
	require.Contains(t, doctor.stdout, "ok    environment: with the variables of "+filepath.Join(dir, "tarsy.env"))
	require.Contains(t, doctor.stdout, "→ load them before tarsy serve: set -a; . ")
	require.NotContains(t, doctor.stdout+check.stderr, token[1])
}

func TestInitReplacesFilesOnlyWithForceAndKeepsToken(t *testing.T) {
	useFakeNPX(t)

	dir := t.TempDir()
	first := initIn(t, dir, []string{"OPENAI_API_KEY=secret"}, false, "", "--prometheus=")
	require.Equal(t, cli.ExitOK, first.code, first.stderr)
	require.Contains(t, first.stderr, "Prometheus   not found")

	text, variables := readFile(t, dir, "tarsy.yaml"), readFile(t, dir, "tarsy.env")
	require.Contains(t, text, "llm_provider: openai-default\n")
	require.Contains(t, text, "mcp_servers: [kubernetes-server]\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tarsy.yaml"), []byte("mine"), 0o600))

	second := initIn(t, dir, []string{"OPENAI_API_KEY=secret"}, false, "", "--prometheus=")
	require.Equal(t, cli.ExitFailed, second.code)
	require.Contains(t, second.stderr, "tarsy.yaml exists; use --force to replace it")
	require.Equal(t, "mine", readFile(t, dir, "tarsy.yaml"))

	third := initIn(t, dir, []string{"OPENAI_API_KEY=secret"}, false, "", "--prometheus=", "--force")
	require.Equal(t, cli.ExitOK, third.code, third.stderr)
	require.Equal(t, text, readFile(t, dir, "tarsy.yaml"))
	require.Equal(t, variables, readFile(t, dir, "tarsy.env"), "Alertmanager keeps the token that it has")
}

func TestInitAsksOnlyForWhatItCannotFind(t *testing.T) {
	useFakeNPX(t)

	prometheus, dir := fakePrometheus(t), t.TempDir()
	kubeconfig := filepath.Join(t.TempDir(), "it's a config")

	got := initIn(t, dir, nil, true, "nobody\nOpenAI\n"+kubeconfig+"\nhttp://tarsy.example\n", "--prometheus", prometheus)
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, `There is no provider "nobody".`)
	require.NotContains(t, got.stderr, "Address of Prometheus", "a flag has said where it is")
	require.Contains(t, got.stderr, "openai-default; no API key found: set OPENAI_API_KEY where the server runs")
	require.Contains(t, got.stdout, "fail  LLM provider openai-default: ")
	require.Contains(t, got.stderr, "Fix what failed above")
	require.Contains(t, readFile(t, dir, "tarsy.yaml"), "llm_provider: openai-default\n")

	variables := readFile(t, dir, "tarsy.env")
	require.Contains(t, variables, "KUBECONFIG='"+strings.ReplaceAll(kubeconfig, "'", `'\''`)+"'\n")

	token := regexp.MustCompile(`TARSY_ALERTMANAGER_TOKEN=(\w+)`).FindStringSubmatch(variables)
	require.Contains(t, got.stdout, "http://tarsy.example/api/v1/webhooks/alertmanager/main")
	require.Contains(t, got.stdout, `credentials: "`+token[1]+`"`, "on a terminal it can be pasted as it is")

	cut := initIn(t, t.TempDir(), nil, true, "google\n")
	require.Equal(t, cli.ExitFailed, cut.code)
	require.Contains(t, cut.stderr, "the input ended before every question was answered; use --yes")

	all := initIn(t, t.TempDir(), []string{"XAI_API_KEY=secret", "KUBERNETES_SERVICE_HOST=10.0.0.1"}, true, "", "--prometheus", prometheus, "--url", "http://x")
	require.Equal(t, cli.ExitOK, all.code, all.stderr)
	require.Contains(t, all.stderr, "Kubernetes   the service account of this pod")
}

func TestInitPrintsCommandThatStartsServer(t *testing.T) {
	useFakeNPX(t)

	dir := filepath.Join(t.TempDir(), "it's a directory")
	run := func(args ...string) (set, serve string) {
		got := initIn(t, dir, []string{"OPENAI_API_KEY=secret"}, false, "", append(args, "--prometheus=", "--force")...)
		require.Equal(t, cli.ExitOK, got.code, got.stderr)

		commands := regexp.MustCompile(`Start the server:\n\n  (.*)\n  tarsy serve (.*)\n`).FindStringSubmatch(got.stderr)
		require.Len(t, commands, 3, got.stderr)

		return commands[1], commands[2]
	}
	inShell := func(script string) string {
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", script).Output()
		require.NoError(t, err, script)

		return string(out)
	}

	set, serve := run("--listen", "127.0.0.1:9000")
	require.Regexp(t, `--config-dir '.*' --data-dir \S+ .*--listen 127\.0\.0\.1:9000$`, serve)
	require.Len(t, strings.TrimSpace(inShell(set+`; echo "$TARSY_ALERTMANAGER_TOKEN"`)), 26)

	args := strings.Split(strings.TrimSuffix(inShell(`printf '%s\n' `+serve), "\n"), "\n")
	require.Equal(t, dir, args[1])
	require.NoError(t, commandOf(t, "serve").ParseFlags(args))

	_, serve = run("--url", "http://tarsy.example:8081")
	require.True(t, strings.HasSuffix(serve, " --listen 0.0.0.0:8081"), serve)
}

func TestInitWithYesReportsWhatIsMissing(t *testing.T) {
	useFakeNPX(t)

	dir := t.TempDir()
	got := initIn(t, dir, nil, true, "", "--yes", "--prometheus", "http://127.0.0.1:1")
	require.Equal(t, cli.ExitOK, got.code, got.stderr)
	require.Contains(t, got.stderr, "google-default; no API key found: set GOOGLE_API_KEY where the server runs")
	require.Contains(t, got.stderr, "no kubeconfig found: set KUBECONFIG where the server runs")
	require.Contains(t, got.stderr, "http://127.0.0.1:1, which does not answer from here")
	require.Contains(t, readFile(t, dir, "tarsy.env"), "PROMETHEUS_URL=http://127.0.0.1:1\n")
}
